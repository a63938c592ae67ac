// Package bundles is the rules of several submissions in one record, a bundle. It has no I/O and no
// clock.
//
// A client that gathers writes stores the submissions of many callers as one record: the server
// syncs it once, and takes it without a batch. A task of a bundle, a member, has no submission of
// its own. Its outcome is a record of its own, as that of any other task.
//
// An outcome leaves when its retention is over, and the bundle may stand for longer. So beside the
// bundle there is a record of its members that have ended.
//
// Invariants.
//   - B1 A member is open if and only if its bundle stands, and the record beside it does not say
//     that the member has ended. The outcome of a member is stored in one step with that record, or
//     not at all.
//   - B2 What is known to have ended only grows.
//   - B3 A bundle is removed in the step in which the last of its members ends, and with it the
//     record beside it.
//   - B4 An id is a member of one bundle at most. A bundle is named after the first of its members,
//     and all of them have been made by one client, in one block of ids. So the id of a member
//     leads to its bundle.
//   - B5 A block has one bundle at most, and a claim keeps bundles out of it. The store takes a
//     bundle, and a claim, only if no record of the block stands among those of bundles. So after a
//     claim of its block a bundle is never stored, however late it comes.
package bundles
