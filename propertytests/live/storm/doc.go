// Package storm is what the storms of elections and of tasks share: a storm strikes processes with
// faults that are drawn by weight, heals the paths that it has broken, and ends what is left of
// crashed processes.
//
//	Fault ──► Draw (by weight) ──► Throw ──► a process: its path is broken (Hurt), or it is doomed (Doom)
//	Pass: time goes by, the doomed end          HealOne, HealAll: paths are whole again
//
// Promises:
//   - A storm is a function of its seed: everything is drawn from one source, in the order of its
//     calls.
//   - A path is healed once, and never that of a process that is lost.
package storm
