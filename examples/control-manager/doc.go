// Command control-manager is a small control plane. Three managers take part in the role "control",
// and the one that leads it hands work to three agents. The program starts them as processes of
// their own, and then does what an operator does: it drains an agent, transfers the role, and kills
// the manager that leads.
//
//	nats-server -js                        # or: go run ./cmd/rolectl dev
//	go run ./examples/control-manager
//
// In the end each change has one outcome, and none has gone to the drained agent:
//
//	began       3 managers, 3 agents, led by manager-1
//	drained     agent-1 after 120 changes
//	transferred control to manager-2 in 18ms
//	killed      manager-2, manager-1 hands out work 1.874s later
//	changes     360 applied, 0 lost, 0 by the drained agent
//
// The files:
//
//	main.go     what the operator does
//	process.go  a manager and an agent
//	plane.go    starts the processes and looks at them
package main
