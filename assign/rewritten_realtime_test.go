//go:build realtime

package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeOutcomeWrittenAnewOnThreeReplicas: a scheduler does not hear what became of an
// outcome for longer than outcomes are kept, and leads all the while. One that was stored, and is
// gone by then, is not stored once more; one that was lost is, in the place of its own submission.
// Nothing runs twice.
func TestRealtimeOutcomeWrittenAnewOnThreeReplicas(t *testing.T) {
	t.Run("stored", func(t *testing.T) {
		t.Parallel()
		a := newBehindLink(t)
		id := ""
		for try, unknown := 0, false; !unknown; try++ { // on a slow machine the acknowledgement may be faster
			if try == 5 {
				t.Fatal("every acknowledgement has come")
			}
			id = fmt.Sprint("task-", try)
			a.submit(t, id)
			before := a.completed()
			a.link.DelayDir(natsrun.ToClient, 300*time.Millisecond)
			a.finish(t, id)
			a.until(t, "its outcome is stored", func() bool { return a.outcomes(id) == 1 })
			a.link.Refuse(true)
			a.link.Cut()
			if unknown = a.completed() == before; !unknown {
				a.heal(t)
			}
		}
		a.until(t, "its outcome is dropped", func() bool {
			_, err := assign.Get(t.Context(), a.c, id)
			return errors.Is(err, assign.ErrTaskNotFound)
		})
		a.heal(t)
		if n := a.outcomes(id); n != 1 {
			t.Errorf("%d outcomes were stored", n)
		}
		a.submit(t, id) // its id is free
		a.finish(t, id)
		a.until(t, "the second task of that id has its outcome", func() bool { return a.outcomes(id) == 2 })
		if n := a.ran(id); n != 2 {
			t.Errorf("two tasks ran %d times", n)
		}
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		a := newBehindLink(t)
		again := false
		// on a slow machine the scheduler may not have heard that the handler has returned
		for try := 0; !again && !t.Failed(); try++ {
			if try == 5 {
				t.Fatal("no outcome was written again")
			}
			id := fmt.Sprint("task-", try)
			a.submit(t, id)
			a.link.CutOneWay(natsrun.ToServer)
			a.finish(t, id)
			time.Sleep(time.Minute) // more than 90 % of the retention
			if n := a.outcomes(id); n != 0 {
				t.Fatalf("%d outcomes were stored through a cut link", n)
			}
			a.heal(t)
			a.until(t, "its outcome is stored", func() bool { return a.outcomes(id) > 0 })
			// An outcome that is written again goes with an empty note.
			again = slices.Contains(records(t, a.nc, "t.>"), "t."+id)
			if n, runs := a.outcomes(id), a.ran(id); n != 1 || runs != 1 {
				t.Errorf("%d outcomes, %d runs", n, runs)
			}
		}
	})
}

// behindLink is a scheduler behind a link, a worker and a client without one, and what they saw.
type behindLink struct {
	*node
	w  *node
	nc *nats.Conn
	c  *assign.Client

	mu     sync.Mutex
	gates  map[string]chan struct{}
	runs   map[string]int
	stored map[string]int
}

// brief tasks are kept no longer than is possible.
var brief = assign.NewKind[string, string]("brief", assign.Retention(time.Minute))

func newBehindLink(t *testing.T) *behindLink {
	a := &behindLink{gates: map[string]chan struct{}{}, runs: map[string]int{}, stored: map[string]int{}}
	s := natstest.Cluster(t)
	patient := func(s *election.SessionConfig, a *assign.Config, _ *bool) { // the term outlives the cut
		s.Replicas, a.Replicas = 3, 3
		s.TTL, s.HeartbeatInterval, s.OpTimeout, s.DisconnectGracePeriod = 10*time.Minute, 2*time.Second, time.Second,
			7*time.Minute
	}
	a.node = newNode(t, s, "a", nil, patient)
	leader(t, a.node)
	a.w = newNode(t, s, "w", func(as *assign.Assigner) {
		if err := assign.Handle(as, brief, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			a.mu.Lock()
			a.runs[task.ID()]++
			gate := a.gates[task.ID()]
			a.mu.Unlock()
			select {
			case <-gate:
				return task.Input, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}); err != nil {
			t.Error(err)
		}
	}, patient, workerOnly)
	var err error
	if a.nc, err = s.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.nc.Close)
	if a.c, err = assign.NewClient(a.nc, assign.ClientConfig{Namespace: testNS, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.c.Close)
	natstest.Republish(t, a.nc, "TASKS_"+testNS, stored+"q.>", "kept.>")
	if _, err := a.nc.Subscribe("kept.>", func(m *nats.Msg) {
		if m.Header.Get("Task-Outcome") == "" {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.stored[m.Subject[len("kept."):]]++
	}); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *behindLink) outcomes(id string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stored[id]
}

func (a *behindLink) ran(id string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[id]
}

// completed is how many outcomes the scheduler knows to be stored.
func (a *behindLink) completed() int {
	return a.count(func(e event.Event) bool { _, ok := e.(event.TaskCompleted); return ok })
}

// submit submits a task whose handler waits, and waits until it runs.
func (a *behindLink) submit(t *testing.T, id string) {
	t.Helper()
	a.mu.Lock()
	a.gates[id] = make(chan struct{})
	before := a.runs[id]
	a.mu.Unlock()
	if _, err := assign.Submit(t.Context(), a.c, brief, "x", assign.WithID(id)); err != nil {
		t.Fatal(err)
	}
	a.until(t, "it runs", func() bool { return a.ran(id) > before })
}

func (a *behindLink) finish(t *testing.T, id string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.gates[id])
}

// heal gives the scheduler its connection back, and waits until it has nothing open; it has led all
// the while.
func (a *behindLink) heal(t *testing.T) {
	t.Helper()
	a.link.Refuse(false)
	a.link.Heal()
	a.until(t, "nothing is open", func() bool {
		o, err := assign.GetOverview(t.Context(), a.c)
		return err == nil && o.Ready && o.Trouble == "" && len(o.Kinds) == 0
	})
	if n := a.count(func(e event.Event) bool { _, ok := e.(event.TaskRecovered); return ok }); n != 1 {
		t.Errorf("%d terms, want one", n)
	}
}

func (a *behindLink) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	natstest.Eventually(t, what, 3*time.Minute, func() (bool, string) { return ok(), a.dump() })
}
