// Package model is the wing of the tests that play the rules alone: internal/protocol and
// internal/protocol/tasks, without a server.
//
//	electionsim  the rules of elections under drawn delays, losses, pauses, crashes and clock rates
//	tasksim      the same for the rules of tasks
//	agenda       what will happen in a simulation, in its order
//	explore      small configurations of both, breadth-first, up to stated numbers of faults
//
// The flags -sim.schedules and -sim.seed set the size of the simulation of elections,
// -tasksim.schedules and -tasksim.seed that of tasks. MUTANTS=1 runs the seeded bugs of each
// package.
package model
