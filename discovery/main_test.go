package discovery

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many tests run beside each other: most of the time they wait.
const together = 8

func TestMain(m *testing.M) {
	natstest.Together(together)
	natstest.Main(m)
}

// bound is a context for one call.
func bound(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// look is the answer to a call that must have one.
func look(t *testing.T, s Servers, last []Server) []Server {
	t.Helper()
	list, err := s.Next(bound(t), last)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// expects fails the test if the list is another.
func expects(t *testing.T, got []Server, want ...Server) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// pending is a call that waits for a change.
type pending struct {
	list chan []Server
	err  chan error
}

// waits begins a call, which ends before the test does.
func waits(t *testing.T, s Servers, last []Server) pending {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p := pending{make(chan []Server, 1), make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, err := s.Next(ctx, last)
		if err != nil {
			p.err <- err
			return
		}
		p.list <- list
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return p
}

// result is what the call has returned.
func (p pending) result(t *testing.T) []Server {
	t.Helper()
	select {
	case list := <-p.list:
		return list
	case err := <-p.err:
		t.Fatal(err)
	}
	panic("not reached")
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	natstest.Eventually(t, what, time.Minute, func() (bool, string) { return holds(), "" })
}
