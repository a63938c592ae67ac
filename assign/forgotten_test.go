package assign_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWaitForAnOutcomeThatIsKeptNoLonger: a submitter that was cut off until then is told so, also
// of a task of its own.
func TestWaitForAnOutcomeThatIsKeptNoLonger(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", doubling(t, "a", newTally()))
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), noReports...)...)
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		short := assign.NewKind[int, int]("double", assign.Retention(time.Minute))
		leader(t, a)
		p, err := assign.Submit(t.Context(), c, short, 1, assign.WithDelay(2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		go func() { // one who waits all the while
			_, err := p.Wait(t.Context())
			waited <- err
		}()
		link.Refuse(true)
		link.Reset()
		own := New(t, s)
		if _, err := assign.Find(own, short, p.ID()).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual
		natstest.Eventually(t, "the outcome is dropped", 10*time.Minute, func() (bool, string) {
			st, err := assign.Get(t.Context(), own, p.ID())
			return errors.Is(err, assign.ErrTaskNotFound), string(st.State)
		})
		link.Refuse(false)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // virtual
		defer cancel()
		if _, err := p.Wait(ctx); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("a client that waits now: %v", err)
		}
		select {
		case err := <-waited:
			if !errors.Is(err, assign.ErrTaskNotFound) {
				t.Errorf("a client that has waited: %v", err)
			}
		case <-ctx.Done():
			t.Error("a client that has waited still waits")
		}
	})
}
