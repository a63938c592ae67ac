package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestOneKindTooMany: a kind that the member record has no room for is refused, and the kinds
// before it are worked on.
func TestOneKindTooMany(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", doubling(t, "a", newTally()))
		leader(t, a)
		err := error(nil)
		for i := 0; err == nil && i < 1000; i++ {
			kind := assign.NewKind[int, int](fmt.Sprintf("%s-%d", strings.Repeat("k", 190), i))
			err = assign.Handle(a.a, kind, func(context.Context, *assign.Task[int]) (int, error) { return 0, nil })
		}
		if fault := (*election.TooLargeError)(nil); !errors.As(err, &fault) || fault.Size <= fault.Limit {
			t.Fatalf("%v, want a *TooLargeError", err)
		}
		p, err := assign.Submit(t.Context(), a.a, double, 21)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Wait(t.Context()); err != nil || got != 42 {
			t.Errorf("%d, %v", got, err)
		}
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.MaxPayload = 128 << 10 }
	})
}
