package stage

import (
	"context"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/event"
)

// TestHistory records two terms by way of a Lead, and asks for what the faults ask for.
func TestHistory(t *testing.T) {
	h := newHistory()
	began := make(chan struct{})
	work := func(ctx context.Context, _ *election.Term) error { close(began); <-ctx.Done(); return nil }
	ctx, first, end := electiontest.NewTerm(t, "r")
	returned := make(chan error)
	go func() { returned <- h.record("a", work)(ctx, first) }()
	<-began

	running := h.running("a")
	if len(running) != 1 || running[0].role != "r" || running[0].epoch != first.Epoch() || running[0].over {
		t.Fatalf("running: %+v", running)
	}
	end(errors.New("over"))
	<-returned
	at, err := h.awaitEnd(t.Context(), running[0])
	if err != nil || at < running[0].from {
		t.Errorf("ended at %v (%v), began at %v", at, err, running[0].from)
	}
	if len(h.running("a")) != 0 {
		t.Errorf("still running: %+v", h.running("a"))
	}

	// A leader in another process is known by events, one of this process only by its work. Older
	// terms do not succeed.
	h.Observe(event.LeaderChanged{Role: "r", Leader: "a", Epoch: first.Epoch() + 1})
	h.Observe(event.LeaderChanged{Role: "r", Leader: "", Epoch: 0})
	h.Observe(event.LeaderChanged{Role: "r", Leader: "elsewhere", Epoch: first.Epoch() + 2})
	h.Observe(event.LeaderChanged{Role: "r", Leader: "late", Epoch: first.Epoch() + 3})
	next, err := h.successor(t.Context(), "r", first.Epoch())
	if err != nil || next.instance != "elsewhere" {
		t.Errorf("successor is %+v (%v)", next, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.successor(gone, "r", first.Epoch()+3); !errors.Is(err, context.Canceled) {
		t.Errorf("no successor: %v", err)
	}
}
