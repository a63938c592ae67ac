//go:build linux

// Package proc runs parts of a measurement in processes of their own, so that each can be killed,
// stopped and measured.
//
// The parent writes one call on each line of the child's stdin ([Start], Child.Call). The child
// writes replies and events on its stdout ([Serve], Line.Tell).
//
// A child is this same program, started again with its kind in the environment. It ends when its
// input does, so none outlives its parent, whatever happens to that one; what it writes on stderr
// goes to the parent's.
//
// Linux only: it finds itself in /proc, and no child outlives its parent (PR_SET_PDEATHSIG).
package proc
