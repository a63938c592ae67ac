// Package heap holds a decoder to memory in proportion to what it reads.
//
// Files: heap.go (the measure).
package heap
