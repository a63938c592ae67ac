// Package live is the wing of the tests on real servers.
//
//	elections    real sessions on a real server, over links that can be cut and held, in virtual or in real time
//	tasks        the same with tasks: who ran what when, and every record of it
//	storm        the faults, the drawing and the healing that storms of elections and of tasks share
//	storms       random faults at both over hours of virtual time
//	permissions  the published permissions: what they suffice for, and what they refuse
//
// In this directory:
//
//	tasks_*_test.go    tasks: a scheduler lost at every write, a fail-over with a thousand running, killed processes
//	matrix_*_test.go   one test for each situation that a user of such a library asks about
//	peers_*_test.go    one test for each thing that another library gets wrong
//	clock_*_test.go    a server, and one of three, whose wall clock steps and leaps
//	torn_*_test.go     a server's file that is torn, or has lost its end
//	ledgers_*_test.go  killed and stopped leaders that write into a file and a store behind fences, and into one without
//	replicas_*_test.go one of three replicas that has lost its tail, or has it torn, alone and beside one that lags
//	restored_*_test.go a cluster whose stores are put back to what they were
//	across_*_test.go   processes at several sites in one role, each of which is cut off from the bucket
//	supercluster_*     such sites: clusters with gateways, a hub with leaf nodes; a bucket that moves
//	storm_*_test.go    a cluster whose servers, routes and links have drawn faults, several at a time
//	taskprocesses_*    processes that schedule and run tasks, killed and stopped again and again
//	cycles_test.go     how often the tests in real time do what they do
//	tokens_test.go     no fencing token in any text that the library puts out
//
// The tag realtime adds clusters and servers that are processes. ROLEMANAGER_CYCLES is how many
// cycles a test plays there. ROLEMANAGER_CYCLES_BEFORE is how many were played before: where faults
// are drawn, the next seed follows from it. The subcommand cycles of campaign sets both.
package live
