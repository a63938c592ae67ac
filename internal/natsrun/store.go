package natsrun

import (
	"fmt"
	"os"
)

// storeDir is a directory for the files of servers. One that was made here is temporary.
type storeDir struct {
	path      string
	temporary bool
}

// openStoreDir takes the given directory, or makes a temporary one when none is given.
func openStoreDir(given string) (storeDir, error) {
	if given != "" {
		return storeDir{path: given}, nil
	}
	dir, err := os.MkdirTemp("", "natsrun-")
	if err != nil {
		return storeDir{}, fmt.Errorf("natsrun: make store directory: %w", err)
	}
	return storeDir{path: dir, temporary: true}, nil
}

// remove removes a temporary directory, and leaves any other.
func (d storeDir) remove() error {
	if !d.temporary {
		return nil
	}
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("natsrun: remove store directory: %w", err)
	}
	return nil
}
