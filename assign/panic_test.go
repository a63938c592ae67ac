package assign_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// explosive panics as often as it is loaded, and then chooses the first.
type explosive struct{ left atomic.Int32 }

func (x *explosive) Place(assign.Placed, []assign.Candidate) int {
	if x.left.Add(-1) >= 0 {
		panic("no place")
	}
	return 0
}

// TestAPanicOfTheSchedulersLoop: the term ends and leaves nothing behind, and a later one hands
// out.
func TestAPanicOfTheSchedulersLoop(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r, x := newRoll(), &explosive{}
		k := assign.NewKind[time.Duration, string]("placed")
		a := newNode(t, s, "a", r.handle(t, "a", k), placing(x))
		leader(t, a)
		c := New(t, s)
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "before", time.Second)}, a)
		before := a.nc.NumSubscriptions()
		x.left.Store(3)
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "after", time.Second)}, a)
		if x.left.Load() >= 0 {
			t.Error("it did not panic")
		}
		natstest.Eventually(t, "nothing of the terms is left", time.Minute, func() (bool, string) {
			return a.nc.NumSubscriptions() <= before, a.dump()
		})
	})
}

// broken is a codec that panics when it opens.
type broken struct{ *keyring.Ring }

func (broken) Open(_ string, _, _ []byte) ([]byte, error) { panic("a broken codec") }

// TestAPanicOfTheCodec: it fails the attempt like a panic of the handler, with its stack, and not
// the process.
func TestAPanicOfTheCodec(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ring := ringOf(t, "1")
		k := assign.NewKind[string, string]("opened", assign.MaxAttempts(1))
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			h := func(context.Context, *assign.Task[string]) (string, error) { return "", nil }
			if err := assign.Handle(a, k, h); err != nil {
				t.Error(err)
			}
		}, withCodec(broken{ring}))
		leader(t, a)
		p, err := assign.Submit(t.Context(), clientWith(t, s, ring), k, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Wait(t.Context())
		var failed *assign.TaskError
		if !errors.As(err, &failed) || !errors.Is(err, assign.ErrTaskDead) ||
			!strings.Contains(err.Error(), "a broken codec") {
			t.Errorf("%v", err)
		}
	})
}
