package natstest

import (
	"os"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Process starts a server in a process of its own that runs this very program: the package's
// TestMain calls Main, which turns it into a server. It is shut down when the test ends, and its
// store is temporary unless an option names one.
func Process(tb testing.TB, opts ...func(*natsrun.Options)) *natsrun.Process {
	tb.Helper()
	if !inMain.Load() {
		tb.Fatal("natstest: Process needs func TestMain(m *testing.M) { natstest.Main(m) } in this package")
	}
	return process(tb, os.Args[0], build(opts))
}

func process(tb testing.TB, program string, o natsrun.Options) *natsrun.Process {
	tb.Helper()
	if o.StoreDir == "" {
		o.StoreDir = tb.TempDir()
	}
	p, err := natsrun.StartProcess([]string{program}, o)
	shutAtEnd(tb, p, err)
	return p
}
