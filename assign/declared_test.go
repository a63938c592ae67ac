package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// declared waits until a version of a kind's limits is stored.
func declared(t *testing.T, c *assign.Client, kind string, version int) assign.KindLimits {
	t.Helper()
	var l assign.KindLimits
	natstest.Eventually(t, fmt.Sprint("version ", version, " of ", kind), time.Minute, func() (bool, string) {
		var err error
		l, err = assign.GetLimits(t.Context(), c, kind)
		return err == nil && l.Declared != nil && l.Declared.Version == version, fmt.Sprintf("%+v, %v", l.Declared, err)
	})
	return l
}

// TestWorkersDeclareTheirKinds: through the scheduler, also those that begin before there is one,
// and those that handle a kind later. They bind the tasks of programs that know no limits.
func TestWorkersDeclareTheirKinds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		one := assign.NewKind[time.Duration, string]("one", assign.Concurrency(1), assign.LimitsVersion(2))
		w := newNode(t, s, "w", r.handle(t, "w", one, assign.NewKind[time.Duration, string]("free")), workerOnly, slots(32))
		time.Sleep(time.Minute) // virtual
		a := newNode(t, s, "a", nil)
		leader(t, a)
		c := New(t, s)
		if l := declared(t, c, "one", 2); l.Declared.By != "w" || *l.Concurrency != 1 {
			t.Errorf("%+v", l)
		}
		if err := assign.Handle(w.a, assign.NewKind[int, int]("later.one", assign.KeyLimit(3)),
			func(context.Context, *assign.Task[int]) (int, error) { return 0, nil }); err != nil {
			t.Fatal(err)
		}
		if l := declared(t, c, "later.one", 0); *l.KeyLimit != 3 {
			t.Errorf("%+v", l)
		}
		if l, err := assign.GetLimits(t.Context(), c, "free"); err != nil || l.Declared != nil {
			t.Errorf("it was not to be declared: %+v, %v", l, err)
		}
		var all []*assign.Pending[string]
		for i := range 8 {
			k := assign.NewKind[time.Duration, string]("one", assign.Concurrency(28))
			all = append(all, submitNamed(t, c, k, fmt.Sprint("one-", i), time.Second))
		}
		waitAll(t, all, a, w)
		if n := r.peak("one"); n != 1 {
			t.Errorf("%d ran at once", n)
		}
	})
}

// TestWorkersOfTwoVersionsDeclare: the higher version counts, also when the other starts last.
// Of two with one version the first one stays, and a fault of the other names both.
func TestWorkersOfTwoVersionsDeclare(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		of := func(name string, concurrency, version int) *node {
			return newNode(t, s, name, r.handle(t, name, assign.NewKind[time.Duration, string]("k",
				assign.Concurrency(concurrency), assign.LimitsVersion(version))), workerOnly)
		}
		a := newNode(t, s, "a", nil)
		leader(t, a)
		c := New(t, s)
		of("first", 2, 1)
		declared(t, c, "k", 1)
		of("second", 4, 2)
		declared(t, c, "k", 2)
		of("old", 2, 1)
		other := of("other", 8, 2)
		faults := func(n *node) (found []string) {
			n.count(func(e event.Event) bool {
				f, ok := e.(event.Fault)
				if ok && errors.Is(f.Err, assign.ErrLimitsDiffer) {
					found = append(found, f.Err.Error())
				}
				return false
			})
			return found
		}
		natstest.Eventually(t, "the other is told", time.Minute, func() (bool, string) { return len(faults(other)) > 0, "" })
		a.link.Cut() // a later scheduler tells nobody twice
		b := newNode(t, s, "b", nil)
		leader(t, b)
		time.Sleep(time.Minute)
		a.link.Heal()
		all := faults(other)
		if len(all) != 1 || strings.Count(all[0], assign.ErrLimitsDiffer.Error()) != 1 ||
			!strings.Contains(all[0], "by second as") || !strings.Contains(all[0], "by other as") ||
			!strings.Contains(all[0], `"concurrency":4`) || !strings.Contains(all[0], `"concurrency":8`) {
			t.Errorf("%q", all)
		}
		if l := declared(t, c, "k", 2); *l.Concurrency != 4 || l.Declared.By != "second" {
			t.Errorf("%+v", l)
		}
	})
}
