package live_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(guardURL); url != "" {
		os.Exit(guardian(url))
	}
	if url := os.Getenv(guardedURL); url != "" {
		if err := guardedChild(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if url := os.Getenv(childURL); url != "" {
		if err := child(url, os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	natstest.Halves(m, leftByServers...)
}

// crowded leaves a test of a hundred processes or a thousand roles out under -short: the race
// detector makes it many times as long, and a few of them share as much memory.
func crowded(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a crowd")
	}
}
