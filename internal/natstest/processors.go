//go:build !race

package natstest

import "os"

// processors is how many processors a bubble has; 0 leaves the number unchanged.
//
// One takes a fifth less processor time: server and client pass each message through a pipe, and
// with two processors the server's writer spins on the second while its reader writes on the first.
// CI and long runs play storms with all of them, since some races need two threads at once:
// NATSTEST_PROCESSORS=all.
func processors() int {
	if os.Getenv("NATSTEST_PROCESSORS") == "all" {
		return 0
	}
	return 1
}
