// Package electionsim plays the machine of internal/protocol in virtual time: several processes,
// each a machine with a model of its driver, against a model of the bucket. It is where the
// promises of the protocol are checked over drawn schedules. A Plan is drawn, with its faults. Each
// process has a watch of the store, which may be delayed, stalled, skipping or lagging.
//
// The store is the one model among the tests; everything above it is the code that runs in
// production, and so is the guard before each resource (fencing.Guard).
//
// # What is checked
//
//	E1  nobody believes in a term of a role while somebody else does: at every step, against what every process was last
//	    told by its machine, on that process's own clock, paused ones included. When the bucket is deleted and made
//	    again, this holds in each of the two; in the old one nobody believes for longer than TTL - margin after its end
//	    Nobody leads a role either while work runs of a session that has ended by a missing permission, for as long as
//	    that was trusted: its lease is closed when all has returned, and left to run out before
//	E2  epochs of a role rise, each is granted once, to the process that wrote that record
//	E3  a resource admits a write of a role's leader exactly if it is not older than the latest one admitted: once a
//	    later term has written, no earlier one does, however late its writes arrive and however often the resource is
//	    recreated from the epoch that it keeps; also when the bucket is recreated, and a term outlives its own.
//	    The leader in the bucket that is there is not refused. A forged token of the present epoch is a conflict; no
//	    process ever shows one
//	E4  terms of a role begin and end in turn within a process, the next not before the last has drained
//	E5  after the last fault everybody is attached to the bucket that is there, and every role is led; E6 by the highest
//	    that takes over; and then nothing changes any more. A leader that crashes then, somebody else being there, has
//	    each of its roles led again within TTL·(1+ρ) and some messages, also when its lease or a record of a role is
//	    lost with it
//	E7  nobody gives a role away whose work still runs, unless it may (VacateUndrained) or the session is lost
//	E8  then one heartbeat for each session and interval, and not one other write; at any time no hot loop
//	E9  where roles are spread, after the last fault the loads are as even as the members permit, and then nothing moves;
//	    and all schedules together move no more than a quarter more roles than the joins, ends and commands in them make
//	    necessary
//	E10 where a role names zones, it goes to a better zone only when the session there has been alive for as long as
//	    the record of the role asks for, and to a worse one never by itself; that time doubles with each such hand-over
//	    that did not last as long, whoever leads next
//	E11 where a role depends on a term elsewhere, each term of it belongs to one of those: it begins while that one is
//	    trusted, and is believed in for no longer; and a process that has none does not claim the role
//
// Beside these: a process that is killed has stopped believing in its session, or had said that it
// is idle while a role waited for it; whose lease says so neither begins to lead nor does any work;
// every command is answered, nothing is written before the first snapshot is complete, Next makes
// progress.
//
// A bucket may also lose its newest writes (GoBack), which it is trusted not to; what is promised
// then stands in afterloss.go.
//
// Work that takes no role, as a task does, is the workload: package tasksim relies upon a session
// not being ended while one continues under it, and this is where that is looked at.
//
// # Failures
//
// A broken promise is an error with the seed, the plan and the tail of the schedule. rapid shrinks
// what it has drawn itself; of the other plans the faults are taken out that are not needed. `go
// test -sim.schedules N -sim.seed S` plays more, or others. MUTANTS=1 takes out the rules of the
// core, and those of the guard, one by one, and wants each to be missed.
//
// # Map
//
//	plan.go                            what is drawn for one schedule
//	run.go, world.go                   a schedule from its start to its end, virtual time
//	store.go, feed.go                  the bucket and its watches
//	process.go, effects.go, clock.go   one process: machine, driver, clocks
//	workload.go                        what it does under a session without a role, and who says that it does nothing
//	network.go, faults.go, losses.go   what goes wrong
//	ended.go                           the guard of a process, which ends its sessions; a session that ends by a missing
//	                                   permission, and what it leaves
//	together.go                        claims that go together, and what is checked of them
//	recreate.go, attach.go             a bucket that is deleted and recreated, and who notices
//	outlived.go                        what is checked of that
//	goback.go, afterloss.go            a bucket that loses what it has acknowledged; what is checked then
//	resource.go                        what leaders write to, by their tokens; what may land there
//	succession.go                      leaders that crash when all is quiet, and how long that may take
//	spread.go                          how even the loads are, and what moves
//	condition.go                       a term elsewhere on which roles depend, and what is checked of those
//	checks.go, counts.go, trace.go     what is checked, counted and shown
package electionsim
