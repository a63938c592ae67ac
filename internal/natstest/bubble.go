package natstest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// bubbles are the tests that run in a bubble, by their testing.TB.
var bubbles sync.Map

// oneBubble lets one bubble with a server run at a time in a process: server and client share pools
// between all users in the process.
var oneBubble sync.Mutex

// Bubble runs a test with a real server in a testing/synctest bubble: time stops while any
// goroutine has work to do, and jumps ahead when all wait. Time begins at 2000-01-01 UTC.
// Scheduling stays as random as it always is.
//
// The process has one processor meanwhile, or all of them with NATSTEST_PROCESSORS=all.
//
// Inside, clients connect with Connect(t, s) or along s.Link(); t's clean-ups run in the bubble,
// before the server's shutdown. The test must end everything that it starts itself: watches,
// sessions, goroutines. t has no Run, Parallel or Deadline.
//
// The package's TestMain calls Main. No other test of the process may use NATS meanwhile, so a test
// that calls Bubble does not call t.Parallel.
func Bubble(t *testing.T, run func(t *testing.T, s *natsrun.Server), opts ...func(*natsrun.Options)) {
	t.Helper()
	if !inMain.Load() {
		t.Fatal("natstest: Bubble needs func TestMain(m *testing.M) { natstest.Main(m) } in this package")
	}
	o := build(opts)
	o.VirtualTime = true
	Virtual(t, func(t *testing.T) {
		bubbles.Store(t, true)
		defer bubbles.Delete(t)
		run(t, start(t, o))
	})
}

// Virtual is synctest.Test for code that uses NATS, its own servers or none. One bubble runs at a
// time, and no timer from nats.go's pool enters or leaves it.
func Virtual(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	oneBubble.Lock()
	defer oneBubble.Unlock()
	dropPooledTimers()
	defer dropPooledTimers()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors()))
	synctest.Test(t, run)
}

// Settle waits, in a bubble, until everything that this moment of virtual time brings has happened:
// started work is done, everybody who must learn of it has, and all wait for time to pass. Outside
// a bubble, where no such moment comes, it does nothing. It is for the test's own goroutine.
func Settle(tb testing.TB) {
	if _, ok := bubbles.Load(tb); ok {
		synctest.Wait()
	}
}

// dropPooledTimers empties nats.go's pool of timers. A timer belongs to the bubble that made it, or
// to none. In another bubble it is a fatal error, or a wait that is not virtual. A sync.Pool is
// empty after two collections.
//
// With several processors, runtime.GC spins until the last of them has swept its part. That took
// three quarters of the processor time of an empty bubble.
func dropPooledTimers() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	runtime.GC()
}
