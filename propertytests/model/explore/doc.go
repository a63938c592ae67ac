// Package explore searches the states of small configurations, breadth first, for one that breaks a
// promise. It steps the core that runs in production: the state of the core is plain data, so it
// can be copied, compared and stepped again from any state.
//
// Package search walks breadth first over all moves. Package snapshot copies the machines, and
// compares them without names and time. There are three worlds. Package elections has
// internal/protocol, with 2 or 3 members, 1 or 2 roles and 0 to 3 faults. Package tasks has
// internal/protocol/tasks, with 2 workers, 2 or 3 leaders and 1 or 2 tasks. Package unique has
// internal/protocol/tasks/unique, with 2 or 3 clients, 1 or 2 keys and 0 to 2 faults.
//
// A simulation draws long schedules with many faults; this takes short ones with few, and leaves
// none out within its bounds. Some configurations are searched whole, the others to a stated number
// of states, the nearest first (explore.csv says about each which): of those nothing is said about
// what lies further away. Where the search ends with "all there are", it has seen every state that
// the configuration can reach, in any number of heartbeats: a state in which revisions, clocks and
// tokens are others but their order is the same is the same state. Faults are what is bounded: how
// many of each kind, not when, nor for how long. But most configurations of elections are coarse,
// which counts as faults some orders that need none (elections, under Coarse).
//
// With three members, or with two roles, most have no end within reach. Those that have one are
// bounded otherwise too (finite in elections.go): nobody comes back who has crashed, hearts beat at
// different moments, or time ends after a unit or two. A long run has to come to their end, and to
// see the role change hands on the way.
//
// # Bounds
//
// The short run looks at all states of the smallest configurations and at the nearest ones of the
// others; elections.go, tasks.go and unique.go say what each allows. `go test
// ./propertytests/model/explore -explore.states N` looks at N states of each, with 0 at all of
// them, `-explore.depth` bounds the moves, `-explore.only` picks one by name. It takes one core,
// and memory mostly for the states that wait: 2 GiB with 1.2 million states of each configuration
// of elections.
//
// `-explore.record explore.csv` adds what a run has seen of each configuration to the record, with
// a mark of the sources; TestRecord reads that, the last of each.
//
// # Landmarks
//
// A search that never comes to where a role changes hands says nothing of successions, however many
// states it has seen: time passes by small units, so from a quiet beginning with three members the
// first takeover is further away than a million states. So some configurations begin where the
// leader has crashed, or is paused, for almost a TTL. And each search counts the states that have
// what the rules are about (landmarks.go in elections and tasks): a killed session, another leader,
// work of a deposed one, an overtaken write, a role that is moved for the sake of balance; a
// deposed scheduler that continues, a task that outlives its scheduler, frames and reports that
// come late. All configurations of elections together have to come by all of theirs, some of them
// each by itself, and so have those of tasks together.
//
// # Liveness
//
// Of tasks and unique keys, every state of a configuration that was searched whole is also asked
// whether it can come to a good end without another fault: what is acknowledged ends, if what can
// always happen again happens one day. Of elections that is not asked here; the simulation asks for
// a leader within a bound of time (E5).
//
// # Symmetry
//
// Members of one configuration can change places, but where roles are spread, which are dealt out
// by names: of those that are alike the one with the smaller fingerprint is looked at first. Two
// that look alike but differ in what refers to them may be counted twice. Members of different
// priority, roles, tasks, and the workers of tasks are not interchanged.
//
// # What is sound, and what is not looked at
//
// A field that a fingerprint leaves out must not matter: rules.go in elections and tasks gives the
// reason for each. This is tested for one in a hundred fingerprints. Each state that has it is
// compared with the first one, and both must lead to states of the same fingerprints.
//
// Every state that is found can be reached by the core under the rules of the world, so a violation
// is real; it is told as the shortest way there. That none is found says something of these worlds
// only: time moves in whole units (for rules whose limits are closed intervals that loses nothing,
// Henzinger, Manna and Pnueli 1992; the limits of belief are open, which makes a difference of one
// instant), and what the worlds leave out is listed in their documentation. Two states of 2^24
// share 64 bits with a chance below 2^-17.
//
// MUTANTS=1 takes rules out one by one; each has to be found, and the test tells after how many
// moves and states.
package explore
