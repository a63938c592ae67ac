// Command campaign does the long runs of this module's tests, and keeps what they come to.
//
//	cycles     plays the tests in real time again and again; cycles.csv is what they came to, and of which product
//	schedules  plays simulated schedules in ranges of seeds, and storms; schedules.csv is what they came to
//	fuzz       runs every fuzz target of the module for a while, or for millions of executions; fuzz.csv is what they
//	           came to
//	mutants    counts the deaths of mutants of earlier rules and worlds; each mutants.csv has those of one list
//	sources    prints marks of Go sources, by which the records say which sources they are of
//
// Run it at the root of the module:
//
//	go run ./propertytests/campaign schedules -of elections -for 1h
//	go run ./propertytests/campaign cycles -sum
//
// The package of each subcommand documents it. Packages runlog (the file of a run) and testbinary
// (one run of tests) are what the subcommands share.
package main
