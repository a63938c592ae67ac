// Package propertytests is the house of the tests of what the library promises as a whole. A test
// of what one package promises is in that package.
//
//	model     the rules alone: drawn schedules, and small configurations breadth-first
//	live      the library on real servers, in virtual or in real time
//	campaign  long runs of these tests, and their records: one file for each sort of run
//
// Each wing has a package comment that lists what it holds. A failure prints its seed, the
// schedule, and the intervals that overlapped.
package propertytests
