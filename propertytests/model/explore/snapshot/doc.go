// Package snapshot makes copies and fingerprints of plain data: of machines that were written to be
// stepped and not to be copied. It looks at their unexported fields, so that the code that runs in
// production needs no seam for it.
//
// Clone copies a value, with cycles and shared parts as they were. Look makes a Part of it: a sum
// of its shape, and the names in it. A Renamer makes the fingerprint of a whole state.
//
// A state of the world is many parts, and a step changes few of them: so a part is looked at once,
// and the fingerprint of a state is put together from those of its parts.
//
// These do not count:
//
//   - points in time count relative to the clock of their process, and not beyond a horizon in the
//     past
//   - names: revisions count by their order, tokens and nonces by being the same, processes of one
//     configuration can change places. A protocol that computes with one of them cannot be looked
//     at in this way.
//   - fields that the rules omit, each with a reason; a counter of which the next name is made
//     tells parts apart all the same, or one part would be taken for another that makes a name
//     which is still about
//
// Two states with one fingerprint continue in the same way; states that differ in the spare room of
// a slice or in the layout of a heap are told apart though they would too, which costs states and
// nothing else.
package snapshot
