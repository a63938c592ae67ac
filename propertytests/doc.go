// Package propertytests holds the tests of what the library promises as a whole; what one package promises is tested in
// that package.
//
//	sim           the rules alone: internal/protocol under drawn delays, losses, pauses, crashes and clock rates
//	tasksim       the same for the rules of tasks
//	explore       small configurations of both, breadth-first, to stated numbers of faults
//	arena         real sessions on a real server, over links that can be cut and held, in virtual or in real time
//	taskarena     the same with tasks: who ran what when, and every record of it
//	bubblestorms  random faults in both arenas over hours of virtual time
//	security      the published permissions: what they suffice for, and what they refuse
//	fuzz          runs every fuzz target of the module for a while, or for millions of executions; fuzz.csv is what they came to
//	longrun       plays simulated schedules in ranges of seeds; longrun.csv is what they came to
//	cycles        plays the tests in real time again and again; cycles.csv is what they came to, and of which product
//	ranges        the file of such a run
//	mutants       takes one rule out of the code and wants a test to notice; each mutants.csv records the deaths, and
//	              mutants/ages counts those of earlier rules and worlds
//	sources       marks of Go sources, by which those files say of what they are
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
//	storm_*_test.go    a cluster whose servers, routes and links have drawn faults, several at a time
//	taskprocesses_*    processes that schedule and run tasks, killed and stopped again and again
//	cycles_test.go     how often the tests in real time do what they do
//	tokens_test.go     no fencing token in any text that the library puts out
//
// A failure prints its seed, the schedule, and the intervals that overlapped. -sim.schedules and -sim.seed set the size of the
// simulation, MUTANTS=1 runs its seeded bugs; the tag realtime adds clusters and servers that are processes,
// ROLEMANAGER_CYCLES says how often what is done to processes, servers and clocks there is done, ROLEMANAGER_CYCLES_BEFORE how often it
// was done before: where faults are drawn, it says from which seed on.
package propertytests
