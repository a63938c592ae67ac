//go:build linux || darwin

package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockStore keeps a store directory to this process: two servers on one store would overwrite each
// other's files. The kernel drops the lock when the process ends, however it ends, so a lock file
// that is left behind means nothing.
func lockStore(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "rolectl-dev.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock store directory (--store-dir): %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("another rolectl dev uses %s: use that server, or give another --store-dir DIR and --port 0",
			dir)
	}
	return nil, fmt.Errorf("lock store directory %s (--store-dir): %w", dir, err)
}
