package assign_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAWorkerThatMessagesDoNotReach is in an account that imports only half of what it needs: it
// lives, and hears nothing of the scheduler. No task waits for it, it keeps its session, and the
// scheduler names it. When it is reached again it is given tasks at once.
func TestAWorkerThatMessagesDoNotReach(t *testing.T) {
	costly(t)
	file, err := server.ProcessConfigFile("testdata/half.conf")
	if err != nil {
		t.Fatal(err)
	}
	for name, leads := range map[string]bool{"idle": false, "leads another role": true} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { unreached(t, s, leads) },
				func(o *natsrun.Options) {
					o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
				})
		})
	}
}

func unreached(t *testing.T, s *natsrun.Server, leads bool) {
	settled(t)
	home, abroad := accountsOf(s)
	b := newBench()
	close(b.gate)
	scheduler := newNode(t, home, "a", b.register(t, "a"))
	leader(t, scheduler)
	c := New(t, home)
	schedules(t, c)
	deaf := newNode(t, abroad, "b", b.register(t, "b"), follower, imports)
	if leads {
		keepBusy(t, deaf)
	}
	workers := func(what string, is func(assign.WorkerOverview) bool) {
		t.Helper()
		overview(t, c, what, func(o assign.Overview) bool {
			for _, w := range o.Workers {
				if w.Instance == "b" {
					return is(w)
				}
			}
			return false
		})
	}
	session := uint64(0)
	workers("it is a worker", func(w assign.WorkerOverview) bool { session = w.Session; return session != 0 })
	begin := time.Now()
	for _, p := range submitSlow(t, c, 40) {
		if _, err := p.Wait(within(t, time.Minute)); err != nil {
			t.Errorf("%s: %v", p.ID(), err)
		}
	}
	if took := time.Since(begin); took > testTTL || b.by("b") > 0 {
		t.Errorf("%v, and %d started on the one that is not reached", took, b.by("b"))
	}
	workers("it is said to be unreachable", func(w assign.WorkerOverview) bool { return w.Unreachable && w.Load == 0 })

	time.Sleep(10 * testTTL)
	named := scheduler.count(func(e event.Event) bool {
		f, is := e.(event.Fault)
		return is && errors.Is(f.Err, assign.ErrUnreachable) && f.Doing == "reach worker b"
	})
	if named < 1 || named > 5 {
		t.Errorf("it is named %d times", named)
	}
	if n := deaf.count(func(e event.Event) bool { _, is := e.(event.SessionLost); return is }); n > 0 {
		t.Errorf("its session was ended %d times", n)
	}

	deaf.close(t)
	newNode(t, home, "b", b.register(t, "b"), follower)
	workers("it is reached", func(w assign.WorkerOverview) bool { return w.Session != session && !w.Unreachable })
	natstest.Eventually(t, "it is given tasks", time.Minute, func() (bool, string) {
		for i := range 8 {
			if _, err := assign.Submit(t.Context(), c, slow, fmt.Sprint("more ", i)); err != nil {
				t.Fatal(err)
			}
		}
		return b.by("b") > 0, ""
	})
}

// accountsOf are the two accounts of half.conf: that of the store, and the one that imports it.
func accountsOf(s *natsrun.Server) (home, abroad with) {
	return with{s, []nats.Option{nats.UserInfo("a", "x")}},
		with{s, []nats.Option{nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b")}}
}

// imports is for a node of the account that imports the store.
func imports(s *election.SessionConfig, a *assign.Config, _ *bool) {
	s.APIPrefix, s.BucketAutoCreate, a.StreamAutoCreate = "JS.A.API", false, false
}
