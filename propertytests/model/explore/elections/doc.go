// Package elections is the world in which the machine of internal/protocol is searched: a few
// processes, each the real machine and a model of its driver, and a bucket.
//
// A World has these parts:
//
//   - process: the machine, its clock, the work of its terms
//   - wire, one for each process: writes and answers on their way, the watch, drains
//   - bucket: its records, the last epochs granted
//
// Every message is a matter of the wire: a request that a fault delays arrives at any later moment,
// also after it was given up and its process has crashed, or never; so does an answer. A watch that
// stalls continues some time, with or without what was overwritten, and a new one may have to be
// waited for just as long.
//
// # What comes twice
//
// A fault repeats a message, and the second one comes at any later moment, or never:
//
//   - a write that reaches the bucket twice, over a path that delivers at least once. It is
//     conditional, so the second is refused whenever it comes: all that it does is its answer. That
//     comes after the first one, or before it, or is the only one that is ever heard. Where the
//     first is refused, the answers are alike.
//   - an answer. Each that comes is handed to the machine, also one to a write that it does not
//     wait for any more. Its driver takes one for each write, so the world asks more of the machine
//     than that does.
//   - what a watch has shown: a new watch shows it again. The bucket keeps one record for each key,
//     so it shows the newest of each, and nothing that was overwritten, but from a replica that
//     lags. A record that comes twice within one watch ends it, since it numbers what it delivers;
//     then too a new one is made. So any watch may be recreated at any moment, and messages under
//     way to the old one are lost.
//   - a leader's question whether somebody is ready, its answer, and an operator's request to step
//     down or to transfer a role, which names an epoch. A driver gives the same id the same answer,
//     but it forgets ids after some hundred others, and when it is started again: so what is
//     repeated is carried out again. The answer to a repeated question is awaited by nobody.
//
// An operator's write is conditional as well, and has no answer here, so its repetition changes
// nothing. The guarded write of a proof is carried out each time; no proofs are asked for here.
//
// A state is never changed. A move makes new parts and shares the others, and parts that are alike
// are kept once; what a machine does with an event is looked up when it has been seen before. So a
// state costs some pointers, and most transitions cost no step of a machine at all.
//
// # Time
//
// Everything happens at a whole number of units on somebody's clock. Time waits for everything that
// is not delayed by a fault; then one clock moves on by one unit, or, where clocks do not drift,
// all of them. With Lead 1 any clock may be one unit ahead of the slowest one, so that what two
// clocks say about the time between two moments differs by two units at most: as much as Margin
// allows, and no less. A pause, a stall or a delay lasts as long as the search likes.
//
// # What is checked in every state
//
//	E1  no two processes believe, each by its own clock, that they lead one role; paused ones included
//	E2  epochs of a role rise, and each is granted to the writer of its record
//	E4  terms of a role take turns within a process
//	E7  no role is given away whose work still runs
//	E9  no process begins to lead more roles than it may
//	I1  whose session is killed has stopped to believe in it, or had said that it is idle and holds a role, or is ended
//	    by the next process of its name; nobody who says that it is idle begins to lead
//
// Beside these: nothing is written before the first snapshot is complete, one write of a role is in
// flight at most, what is asked for one epoch is done at no other, no machine ends by itself, and
// none asks for a Tick that changes nothing.
//
// # What is left out
//
// Both scales of a clock are one here: a suspended machine is a matter for the simulation, as are
// lost connections that the driver notices, health checks, proofs, duplicate ids, records that
// cannot be read, weights, zones, roles that are to be apart, and that loads come to be even (the
// simulation looks at these), a store that loses what it has acknowledged or expires a marker, and
// members of other lease times. A watch that does not deliver keeps four entries of what was
// overwritten. Revisions, beats and tokens are names, see package snapshot; the fields that do not
// count are listed in rules.go, each with the reason.
//
// # Coarse
//
// A configuration is Coarse unless it says otherwise: a write, its arrival and its answer are one
// step that only a fault can divide, of several writes one goes after the other, an operator's
// request is heard at once, and a watch delivers all that it has. Each of these steps is some of
// those of "every interleaving", which divides them all. So what a coarse search finds is real.
//
// It loses orders, all of them within one instant: time waits for what is not delayed, in both.
// Steps of two processes can change places, since neither looks at what the other one changes: a
// step takes from the front of its own feed, and a commit is put at the end. So a sending can be
// put right before the arrival of its write, and the answer right after it, past whatever others do
// meanwhile, their writes too. A move that it cannot be put past is said to overtake it:
//
//   - the request is overtaken by another step of its own process (a Tick, a delivery, another
//     answer, a pause), or by a write of somebody else that comes between it and another request of
//     the same step, or after the snapshot of a new watch that it answers: that step alone looks at
//     what stands;
//   - the answer is overtaken by another step of its own process, or by the arrival of another one
//     of its writes;
//   - a record is, when its watch has delivered the one before it, and something else happens
//     first;
//   - an operator's request is, when the term that it names has ended on the way.
//
// For each of the first three there is a fault that makes the same order: a request that is
// delayed, an answer that is, a watch that stalls. So the runs of "every interleaving" with so many
// faults, in which so many things are overtaken, are among those of a coarse configuration that
// allows for the sum of them, of these kinds. With fewer they are lost: one that allows for one
// fault does not say what that does beside an answer that a delivery overtakes, and one that allows
// for two does. The last is lost, but as a repetition (RepeatControl): the request is heard, and
// once more after its term. Nor does the argument hold of a watch that has more than four records
// to deliver, which drops what was overwritten: what that is depends on when they came.
//
// That this is so is argued, not proved. It is compared where "every interleaving" comes to an end
// (coarse_test.go), which are two members, a takeover, a crash, an eviction or a marker: each
// coarse state is one of the other search; with the same faults both come to the same by what the
// promises speak of; by the order of the records and the time that belief has left, only if what is
// overtaken may be delayed: four writes at a takeover, one beside an eviction. And with too small a
// margin both break the same promise. With three members, and of what comes together only in longer
// runs, nothing was compared.
package elections
