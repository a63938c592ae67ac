// Package campaign is the wing of the long runs and their records.
//
//	cycles     plays the tests in real time again and again; cycles.csv is what they came to, and of which product
//	schedules  plays simulated schedules in ranges of seeds, and storms; schedules.csv is what they came to
//	fuzz       runs every fuzz target of the module for a while, or for millions of executions; fuzz.csv is what they came to
//	mutants    takes one rule out of the code and wants a test to notice; each mutants.csv records the deaths, and
//	           mutants/ages counts those of earlier rules and worlds
//	sources    marks of Go sources, by which the records say which sources they are of
//	runlog     the file of such a run
package campaign
