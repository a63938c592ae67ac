//go:build linux || darwin

package supervise

import "os"

// Command is what to run.
type Command struct {
	Path   string
	Args   []string // the first one is the name of the program
	Env    []string
	Stdin  *os.File // nil: nothing to read
	Stdout *os.File
	Stderr *os.File
	// Signals are passed on to the command itself.
	Signals <-chan os.Signal
}
