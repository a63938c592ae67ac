// Package storm is what the storms of elections and of tasks share: a storm strikes processes with
// faults that are drawn by weight, heals the paths that it has broken, and ends what is left of
// crashed processes.
//
// Draw chooses a Fault by its weight, and Throw strikes a process with it. Hurt breaks its path,
// and Doom ends the process. Pass lets time go by, and the doomed end. HealOne and HealAll make
// paths whole again.
//
// Promises:
//   - A storm is a function of its seed: everything is drawn from one source, in the order of its
//     calls.
//   - A path is healed once, and never that of a process that is lost.
package storm
