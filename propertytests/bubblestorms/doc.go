// Package bubblestorms holds the storms: random faults over hours of virtual time on the real server, in a testing/synctest
// bubble. It is a package of its own because it takes as long as all other tests of propertytests together, and packages run
// beside each other.
//
//	TestBubbleStorms   elections: what package arena throws at them, swept for overlaps (E1, E2, E4 to E8)
//	TestTasksStorms    tasks: what package taskarena throws at them (T1 to T5, ticks, unique keys)
//
// Promises: a storm goes on, under new seeds, until every fault has struck and everything has happened that must.
//
// Failures: a violation is told with the seed, the faults that led to it and the stretches that overlap.
//
// ROLEMANAGER_STORM_HOURS, _SEED and _LULL set the size of the storms.
//
// Files: elections_test.go and tasks_test.go (the shapes of weather), rounds_test.go (how often), size_test.go and
// size_race_test.go (how long), main_test.go.
package bubblestorms
