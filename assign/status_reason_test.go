package assign_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWhyATaskWaits: the status of a task that no worker takes says why, and the overview counts
// such tasks.
func TestWhyATaskWaits(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("plain")
		a := newNode(t, s, "a", r.handle(t, "a", k), slots(2))
		leader(t, a)
		c := New(t, s)
		tasks := map[string]assign.Reason{
			"labels": assign.ReasonLabels, "slots": assign.ReasonSlots,
			"kind": assign.ReasonNoWorker,
		}
		submitNamed(t, c, assign.NewKind[time.Duration, string]("plain", assign.Labels(map[string]string{"gpu": "1"})),
			"labels", 0)
		submitNamed(t, c, assign.NewKind[time.Duration, string]("plain", assign.Slots(3)), "slots", 0)
		submitNamed(t, c, assign.NewKind[time.Duration, string]("nobodys"), "kind", 0)
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "fine", 0)}, a)
		for id, want := range tasks {
			st, err := assign.Get(t.Context(), c, id)
			if err != nil || st.State != assign.StatePending || st.Reason != want {
				t.Errorf("%s: %+v, %v; want %q", id, st, err, want)
			}
		}
		page, err := assign.List(t.Context(), c, assign.ListOptions{States: []assign.State{assign.StatePending}})
		if err != nil || len(page.Tasks) != len(tasks) {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, st := range page.Tasks {
			if st.Reason != tasks[st.ID] {
				t.Errorf("listed: %s waits for %q, want %q", st.ID, st.Reason, tasks[st.ID])
			}
		}
		reasonsAre(t, c, `map[nobodys:map[no_worker:1] plain:map[labels:1 slots:1]]`)
		if err := assign.PauseKind(t.Context(), c, "plain", ""); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the kind is paused", time.Minute, func() (bool, string) {
			st, err := assign.Get(t.Context(), c, "labels")
			return err == nil && st.Reason == assign.ReasonPaused, fmt.Sprintf("%+v, %v", st, err)
		})
		reasonsAre(t, c, `map[nobodys:map[no_worker:1] plain:map[paused:2]]`)
	})
}

func reasonsAre(t *testing.T, c assign.Submitter, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o, err := assign.GetOverview(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[assign.Reason]int{}
	for _, k := range o.Kinds {
		got[k.Kind] = k.Reasons
	}
	if fmt.Sprint(got) != want {
		t.Errorf("overview: %v, want %s", got, want)
	}
}
