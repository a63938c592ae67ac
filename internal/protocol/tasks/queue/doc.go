// Package queue is an ordered queue of items that know their own places.
package queue
