// Package runlog keeps what a long run has come to, part after part, in a file of comma-separated
// values: a run can be stopped at any time, continues where its file ends, and plays nothing twice.
//
//	head    played, first_seed, last_seed, …
//	row     one part that was played to its end
//	row     …
//
// Promises:
//   - A line of the file is never changed: a part is added as one line behind the others.
//   - Runs of different kinds may add to one file at a time, each from a process of its own: a line
//     is one write. Only one process may begin the file.
//   - docs/verification/runs.md quotes the sums of a file as the file has them: each file has a
//     test that compares the two.
//
// Failures: a row that cannot be read is an error with its number, so that no count is made of less
// than the file has.
package runlog
