// Package cycles plays the tests of this module that do something to real processes, servers and
// clocks, cycle after cycle, and adds a line to propertytests/campaign/cycles.csv for each part of
// it: how many cycles of which test, what that came to, and of which product; or, of a part that
// has failed, no cycles and why it failed.
//
//	go run ./propertytests/campaign cycles -cycles 50
//	go run ./propertytests/campaign cycles -of FencedLedgers -cycles 50
//	go run ./propertytests/campaign cycles -cycles 1 -lanes 4 -file ''
//	go run ./propertytests/campaign cycles -sum
//
// It continues until the file has so many cycles of each test, of the product as it is, in parts of
// -part cycles. So it can be stopped at any time, and continues where the file ends; what was
// played of a part that is interrupted does not count. Several tests are played at a time with
// -lanes, on machines that are not too busy for it: most of a cycle is waiting. Which ones, -of
// says, and with -seed only every other of these is played, which CI does.
//
// A test of drawn faults draws other ones in each cycle of one product: it is told how many were
// played before.
//
// Promises:
//   - Cycles in a line were played by the test's own word, in a run that has passed. A test
//     continues when what it is about has not happened yet, so that there may be more of them than
//     were asked for.
//   - A part that has failed is counted with why: a violation as the test tells it, a timeout, or
//     the last that the test has said. Only a part that has passed says 0 violations itself.
//   - A line has a mark of the product: of the Go files of what the test is about, and all that
//     these import here. Two lines with the same one are of the same product, whatever the commit;
//     commits with a + had changes beside them. Lines that count for the present product have its
//     mark.
//
// docs/verification/runs.md quotes the sum, up to the empty line, and a test holds it to the file.
// A commit that adds lines also updates the quote.
//
// Failures: a test that fails is told as it tells it, and ends the run. A machine that is too slow
// and a fault cannot always be told apart here. docs/verification/findings.md lists the faults of
// the product that such runs have found. Parts that failed before 22 November 2026 have left no
// line.
package cycles
