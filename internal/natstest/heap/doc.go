// Package heap checks that a decoder uses memory in proportion to its input.
//
// Files: heap.go (the measure).
package heap
