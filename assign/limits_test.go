package assign_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestConcurrencyOfAKind(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		few := assign.NewKind[time.Duration, string]("few", assign.Concurrency(3))
		many := assign.NewKind[time.Duration, string]("many")
		a := newNode(t, s, "a", r.handle(t, "a", few, many))
		b := newNode(t, s, "b", r.handle(t, "b", few, many))
		first := leader(t, a, b)
		c := New(t, s)
		var all []*assign.Pending[string]
		for i := range 12 {
			all = append(all, submitNamed(t, c, few, fmt.Sprint("few-", i), 5*time.Second))
			all = append(all, submitNamed(t, c, many, fmt.Sprint("many-", i), 2*time.Second))
		}
		r.awaitStarted(t, 15) // those of the other kind are not held up
		first.link.Cut()      // running tasks are adopted, and count
		waitAll(t, all, a, b)
		if few, many := r.peak("few"), r.peak("many"); few != 3 || many < 4 {
			t.Errorf("at once ran %d of few and %d of many, want 3 of few", few, many)
		}
		first.link.Heal()
	})
}

func TestKeyLimit(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		perUser := map[string]assign.Kind[time.Duration, string]{}
		for _, user := range []string{"u1", "u2", "u3"} { // a kind each, to count by
			perUser[user] = assign.NewKind[time.Duration, string]("mail-"+user, assign.KeyLimit(2))
		}
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			for _, k := range perUser {
				r.handle(t, "a", k)(a)
			}
		}, slots(64))
		leader(t, a)
		c := New(t, s)
		var all []*assign.Pending[string]
		for user, k := range perUser {
			for i := range 6 {
				all = append(all, submitNamed(t, c, k, fmt.Sprint(user, "-", i), time.Second, assign.WithLimitKey(user)))
			}
		}
		waitAll(t, all, a)
		for user, k := range perUser {
			if n := r.peak(k.Name()); n != 2 {
				t.Errorf("%d tasks of %s ran at once, want 2", n, user)
			}
		}
	})
}

func TestRateOfAKind(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("paced", assign.Rate(4))
		a := newNode(t, s, "a", r.handle(t, "a", k), slots(64))
		leader(t, a)
		c := New(t, s)
		began := time.Now()
		var all []*assign.Pending[string]
		for i := range 40 {
			all = append(all, submitNamed(t, c, k, fmt.Sprint("paced-", i), 0))
		}
		waitAll(t, all, a)
		// Virtual time: the bucket holds no more than a second's worth.
		if took := time.Since(began); took < 8500*time.Millisecond || took > 12*time.Second {
			t.Errorf("40 tasks took %v, want about 10s", took)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for id, at := range r.at {
			n := 0
			for _, other := range r.at {
				if d := other.Sub(at); d >= 0 && d < time.Second {
					n++
				}
			}
			if n > 9 {
				t.Errorf("%d tasks were started in the second from %s on, want 4 and a bucket's worth at most", n, id)
			}
		}
	})
}

func labelled(labels map[string]string) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Labels = labels }
}

func TestLabels(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("anywhere")
		a := newNode(t, s, "a", r.handle(t, "a", k), labelled(map[string]string{"zone": "north", "disk": "ssd"}))
		leader(t, a)
		b := newNode(t, s, "b", r.handle(t, "b", k), workerOnly, labelled(map[string]string{"zone": "south"}))
		c := New(t, s)
		var all []*assign.Pending[string]
		want := map[string]string{}
		for i := range 10 {
			for zone, node := range map[string]string{"north": "a", "south": "b"} {
				id := fmt.Sprint(zone, "-", i)
				want[id] = node
				all = append(all, submitNamed(t, c, k, id, 0, assign.WithLabels(map[string]string{"zone": zone})))
			}
		}
		waitAll(t, all, a, b)
		if !maps.Equal(r.nodes(), want) {
			t.Errorf("ran on %v, want %v", r.nodes(), want)
		}
		// Nobody has both: it waits, and holds up nobody, until somebody comes who has.
		both := submitNamed(t, c, k, "both", 0, assign.WithLabels(map[string]string{"zone": "south", "disk": "ssd"}))
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "free", 0)}, a, b)
		time.Sleep(5 * time.Second)
		if n := len(r.started()); n != 21 {
			t.Errorf("%d tasks have started, want 21: %v", n, r.started())
		}
		d := newNode(t, s, "d", r.handle(t, "d", k), workerOnly, labelled(map[string]string{"zone": "south", "disk": "ssd"}))
		waitAll(t, []*assign.Pending[string]{both}, a, b, d)
		if r.nodes()["both"] != "d" {
			t.Errorf("ran on %s, want d", r.nodes()["both"])
		}
	})
}
