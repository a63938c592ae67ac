//go:build !race

package natstest

// processors is how many a bubble has: as many as there were.
const processors = 0
