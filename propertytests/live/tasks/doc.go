// Package tasks is where processes hand out and run tasks while everything goes wrong, and where
// every promise of package assign is checked against what they did.
//
// Processes and clients reach one server over a Link or a Snip, which can harm their messages. An
// operator has a path without faults. The RecordLog has every record of the stream, and every
// session that ended. The Ledger has which attempt ran where, from when to when, and its input.
//
// Check compares the records with the ledger, which know nothing of each other:
//
//	T1  what Submit has returned for has one outcome, and only a requeue replaces one
//	T2  the outcome names an attempt that ran to that very end, and its output is that attempt's
//	T3  no handler begins under an epoch below one that its session has run under
//	T4  what was submitted has ended or is open, and has ended when it is calm (Settled)
//	T5  no handler runs on after its session was ended, by itself or by others; of one task never two run at once, but
//	    for one that does not return when its session is lost
//
// and also: of the open tasks of a kind one at most has a unique key, each tick of a recurrence
// comes once, and an attempt gets the last checkpoint that was acknowledged, or a later one. The
// completion of a group runs after all of its members, and a task after those that it waits for. Of
// a kind no more run at once than it says, under any leader. A task that is dead for lost workers
// ran alone on the last one. A bundle stands only while one of its tasks is open, and the record
// beside it only while it stands.
package tasks
