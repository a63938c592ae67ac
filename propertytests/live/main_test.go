package live_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := child(url, os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	natstest.Main(m, leftByServers...)
}
