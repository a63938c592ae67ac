// Package runlog keeps what a long run has come to, part after part, in a file of comma-separated values: a run can be stopped
// at any time, goes on where its file ends, and plays nothing twice.
//
//	head    played, first_seed, last_seed, …
//	row     one part that was played to its end
//	row     …
//
// Promises:
//   - What stands in the file stays: a part is added as one line behind the others.
//   - Runs of different kinds may add to one file at a time, each from a process of its own: a line is one write. Whoever begins
//     the file is alone.
//   - What docs/verification/runs.md quotes of a file's sums is what the file says: a test of each file holds them to each other.
//
// Failures: a row that cannot be read is an error with its number, so that no count is made of less than the file has.
//
// Files: table.go (the file), cells.go (one row), quote.go (the document).
package runlog
