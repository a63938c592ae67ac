package natstest

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// inMain is true when the server's access-time goroutine runs outside any bubble.
var inMain atomic.Bool

// Main runs a package's tests and exits; TestMain of every package that uses Bubble calls it and
// does nothing after it. When the tests have passed, Main fails the run if goroutines are left,
// except those that the options ignore.
//
// nats-server keeps one goroutine for all servers of a process, which waits for a ticker and for a
// channel made before any bubble. If it were started in a bubble, it would never count as idle, and
// virtual time would never move. Main therefore starts it here.
//
// Temporary files are in memory, where the system has room for them there.
//
// A test binary that Process has started becomes a server instead.
func Main(m *testing.M, ignore ...goleak.Option) {
	serveIfAsked()
	os.Exit(run(m, ignore))
}

// serveIfAsked is a server until it is told to end, if Process has started this program.
func serveIfAsked() {
	if was, err := natsrun.Serve(nil); was {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// run runs the tests, and returns the status with which the program ends.
func run(m *testing.M, ignore []goleak.Option) int {
	collectRarely()
	parsed()
	inMemory()
	ats.Register()
	inMain.Store(true)
	code := m.Run()
	ats.Unregister()
	if code == 0 {
		if err := goleak.Find(ignore...); err != nil {
			fmt.Fprintln(os.Stderr, "natstest: goroutines are left after the tests:", err)
			code = 1
		}
	}
	return code
}
