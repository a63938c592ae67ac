package assign_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestLargeOutputThatIsGone: a task has succeeded though nobody can read its output any more, and a
// caller that waits is told so.
func TestLargeOutputThatIsGone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		n := newNode(t, s, "a", sizing(t))
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, sized, 2<<20)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); err != nil || len(out) != 2<<20 {
			t.Fatalf("%d bytes, %v\n%s", len(out), err, n.dump())
		}
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		store, err := js.Stream(t.Context(), objectsStream)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrOutputGone) {
			t.Errorf("%v", err)
		}
		if st, err := p.Status(t.Context()); err != nil || st.State != assign.StateSucceeded || st.Ended.IsZero() {
			t.Errorf("%+v, %v", st, err)
		}
	})
}
