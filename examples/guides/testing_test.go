package guides

import (
	"context"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
)

// TestWorkStopsWithItsTerm needs no server: the test itself ends the term.
func TestWorkStopsWithItsTerm(t *testing.T) {
	ctx, term, end := electiontest.NewTerm(t, "pipeline")
	block := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	returned := make(chan error)
	go func() { returned <- ledBy(block, block).Lead(ctx, term) }()

	end(election.ErrSessionLost)
	if err := <-returned; !errors.Is(err, election.ErrSessionLost) {
		t.Errorf("the work returned %v", err)
	}
	if term.Valid() {
		t.Error("the term is still valid")
	}
}

// TestHandler calls a handler as a function.
func TestHandler(t *testing.T) {
	_, err := resizeImage(t.Context(), assigntest.NewTask(t, ""))
	if end := assign.EndOf(t.Context(), err); end != assign.EndPermanent {
		t.Errorf("the attempt ends as %s", end)
	}

	second := assigntest.NewTask(t, 3, assigntest.Attempt(2), assigntest.Checkpoint([]byte("2")))
	if n, err := countTo(t.Context(), second); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if reports := assigntest.Progress(second); len(reports) != 1 || string(reports[0].Checkpoint) != "2" {
		t.Errorf("progress %v", reports)
	}
}

// TestNamespace runs a scheduler, two workers and a client with a real server in this process.
func TestNamespace(t *testing.T) {
	tasks := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, resize, resizeImage); err != nil {
			t.Fatal(err)
		}
	}, assigntest.Workers(2))
	pending, err := assign.Submit(t.Context(), tasks, resize, "cat.png")
	if err != nil {
		t.Fatal(err)
	}
	if width, err := pending.Wait(t.Context()); width != len("cat.png") || err != nil {
		t.Errorf("%d, %v", width, err)
	}
}
