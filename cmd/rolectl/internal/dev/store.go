package dev

import (
	"fmt"
	"os"
)

// openStore makes a store directory, if it is missing, and keeps it to this process until unlock is
// called.
func openStore(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make store directory (--store-dir): %w", err)
	}
	return lockStore(dir)
}
