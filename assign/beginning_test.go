package assign_test

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestConnectionFailsAtTheBeginningOfATerm: a new scheduler whose connection breaks continues when
// there is another one, whatever it was waiting for. Its session lives through it, so nobody else
// takes over.
func TestConnectionFailsAtTheBeginningOfATerm(t *testing.T) {
	step := thorough.Pick(100*time.Millisecond, 50*time.Millisecond)
	for after := time.Duration(0); after <= 600*time.Millisecond; after += step {
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			r := newRoll()
			k := assign.NewKind[time.Duration, string]("plain")
			a := newNode(t, s, "a", nil)
			leader(t, a)
			z := newNode(t, s, "z", nil)
			w := newNode(t, s, "w", r.handle(t, "w", k), workerOnly)
			c := New(t, s)
			z.link.Delay(25 * time.Millisecond)
			a.close(t)
			leader(t, z)
			time.Sleep(after)
			z.link.Reset()
			p := submitNamed(t, c, k, "one", 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := p.Wait(ctx); err != nil {
				t.Errorf("broken %v after the promotion: %v\n%s", after, err, z.dump())
			}
			w.close(t)
		})
	}
}
