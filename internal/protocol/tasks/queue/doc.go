// Package queue is an ordered queue of items that know their own places, and one whose keys take
// turns.
package queue
