// Package elections is the world in which the machine of internal/protocol is searched: a few processes, each the real
// machine and a model of its driver, and a bucket.
//
//	World ──► process: the machine, its clock, the work of its terms     (one each)
//	      ──► wire: writes and answers on their way, the watch, drains   (one each)
//	      ──► bucket: what stands, the last epochs granted
//
// Every message is a matter of the wire: a request that a fault delays arrives at any later moment, also after it was given
// up and its process has crashed, or never; so does an answer. A watch that stalls goes on some time, with or without what was
// overwritten, and a new one may have to be waited for just as long.
//
// A state is never changed. A move makes new parts and shares the others, and parts that are alike are kept once; what a
// machine does with an event is looked up when it has been seen before. So a state costs some pointers, and most
// transitions cost no step of a machine at all.
//
// # Time
//
// Whatever happens, happens at a whole number of units on somebody's clock. Time waits for everything that is not delayed by
// a fault; then one clock moves on by one unit, or, where clocks do not drift, all of them. With Lead 1 any clock may be one
// unit ahead of the slowest one, so that what two clocks say of the time between two moments differs by two units at most:
// as much as Margin allows, and no less. A pause, a stall or a delay lasts as long as the search likes.
//
// # What is checked in every state
//
//	E1  no two processes believe, each by its own clock, that they lead one role; paused ones included
//	E2  epochs of a role rise, and each is granted to the writer of its record
//	E4  terms of a role take turns within a process
//	E7  no role is given away whose work still runs
//	I1  whose session is killed has stopped to believe in it, or had said that it is idle and holds a role, or is ended by the
//	    next process of its name; nobody who says that it is idle begins to lead
//
// Beside these: nothing is written before the first snapshot is complete, no machine ends by itself, and none asks for a Tick
// that changes nothing.
//
// # What is left out
//
// Both scales of a clock are one here: a suspended machine is a matter for the simulation, as are lost connections that the
// driver notices, health checks, duplicate ids, records that cannot be read, and members of other lease times. A watch that
// does not deliver keeps four entries of what was overwritten. Revisions, beats and tokens are names, see package plain; the
// fields that do not count are listed in rules.go, each with the reason.
//
// A configuration is Coarse unless it says otherwise: a write, its arrival and its answer are one step that only a fault can
// divide, and a watch delivers all that it has. With one delay allowed that loses no order in which a single write can
// overlap with anything else; "every interleaving" divides them all.
//
// Files: config.go a configuration, faults · model.go states, fingerprints · process.go stepping a machine · notes.go what a
// process has promised · wire.go, network.go what is on its way · bucket.go the store · moves.go what can happen · do.go a
// move made · calm.go the beginning · story.go a move told · rules.go what does not count.
package elections
