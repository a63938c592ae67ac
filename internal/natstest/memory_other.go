//go:build !linux

package natstest

// inMemory leaves temporary files where they are: other systems have no folder that is known to be
// in memory.
func inMemory() {}
