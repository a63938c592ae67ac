// Package heap checks that a decoder uses memory in proportion to its input.
package heap
