// Package storms holds the storms: random faults over hours of virtual time on the real server, in
// a testing/synctest bubble. It is a package of its own because it takes as long as all other tests
// of propertytests together, and packages run beside each other.
//
//	TestBubbleStorms   elections: what live/elections throws at them, swept for overlaps (E1, E2, E4 to E8)
//	TestTasksStorms    tasks: what live/tasks throws at them (T1 to T5, ticks, unique keys, groups, tasks after
//	                   others, limits, neighbours of lost workers), once on a store that syncs each write, in batches
//	                   and bundles
//
// Promises:
//   - Each shape of elections continues until it has proven something by itself: every kind of
//     fault that it can have has struck it (links cut, held in one direction and in both, delayed,
//     reset and refused, processes that join, leave, crash and come twice, records deleted and
//     garbled, watches stalled, roles taken and passed on; the server restarted where there are
//     files), a process has joined and one has left cleanly, sessions were lost and killed, every
//     role has had a second term, and a leader that crashed in the calm was followed in time.
//   - One shape has a hundred candidates of a role and one has a thousand roles of a process, all
//     of them seen in line before the first fault; fifty and two hundred and fifty under the race
//     detector. -short changes nothing.
//   - Each shape of tasks comes again, under new seeds, until processes have joined and left,
//     sessions were lost and a second scheduler has led; and all shapes until everything has
//     happened that is rarer.
//
// Failures: a violation is told with the seed, the faults that led to it and the stretches that
// overlap; a storm that continues without what it is to prove fails in the end, and says what is
// missing. One shape alone (-run TestBubbleStorms/restarts) may lack what only the others bring
// about: for that, set fewer than 40 hours.
//
// ROLEMANAGER_STORM_HOURS, _SEED and _LULL set the size of the storms; years of them are played by
// the command schedules. Each test ends with what it has played: storms, virtual seconds from the
// first process to the end, faults, and terms (those of schedulers, of tasks).
package storms
