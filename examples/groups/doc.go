// Command groups runs one group of many tasks while its processes are killed, and reports what has
// become of each member.
//
//	nats-server -js                          # or: go run ./cmd/rolectl dev
//	go run ./examples/groups                 # 1,000 members
//	go run ./examples/groups -members 100000 -kills 6
//
// It starts itself as some processes more: candidates, one of which is the scheduler, and workers.
// One after the other the scheduler and a worker that runs members are ended by SIGKILL, which they
// can neither prevent nor notice, and others take their places. Every hundredth member fails. When
// all have ended, the completion runs, and reads how they have ended.
//
// The exit status is 0 if each member has ended as it had to, and the completion has succeeded.
//
//	main.go       the flags, and the order of things
//	kinds.go      the two kinds of task, and their handlers
//	process.go    a process that takes part: the same program with -as
//	cluster.go    starts these processes, and kills them
//	report.go     what came of it
package main
