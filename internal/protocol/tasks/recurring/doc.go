// Package recurring is the rules of recurrences that need no scheduler: which definition follows
// which, from when its ticks count, and which of them are due. It has no clock and no I/O.
//
// Invariants.
//   - R1 A definition never replaces one of a higher version.
//   - R2 A definition with the same schedule as the one that it replaces continues it: no tick that
//     is due is lost by that.
//   - R3 A recurrence that is paused fires nothing, and stays paused until it is resumed. Its ticks
//     count from then, and equal distances from where they did.
//   - R4 Of several ticks that are due at once, the last one alone is submitted where tasks of the
//     recurrence may not overlap and none of them waits for another.
package recurring
