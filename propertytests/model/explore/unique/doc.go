// Package unique is the world of unique keys that is searched: clients of package
// internal/protocol/tasks/unique, which want the same keys, a client that submits without a key,
// one that submits a dead task again, and what schedulers do with keys.
//
// Reservations and outcomes expire at any time. A scheduler frees the key of a task that has ended,
// at once, late, or never; a later one frees the keys whose tasks are not there, by the rule of
// internal/protocol/tasks. A copy that is under way arrives at any time, or never. The client that
// submits again begins again as often as it is refused.
//
// These are faults, of which a configuration allows so many: a read answers with the record before
// the present one; a write is stored and its answer lost, is lost itself, arrives after it was
// given up, or arrives twice; a client disappears.
//
// It must hold that a submission replaces nothing but a reservation, or the outcome that it is to
// follow; that every open task with a key is named by the key's record; and that a client which
// says that a task is there is right.
//
// States in which only the numbers of revisions differ, and not their order, are one state.
package unique
