package assign_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestFramesForOurselves: nothing that a scheduler and the worker of its own session say to each
// other crosses the server, but one empty report, which tries the permission. A frame for another
// worker, even of the same process, does, and verifies with the scheduler's public key.
func TestFramesForOurselves(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		c, spy := New(t, s), natstest.Connect(t, s)
		frames, reports := overhear(t, spy, said+".work.>"), overhear(t, spy, said+".report.>")
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		for i := range 20 {
			run(t, c, i)
		}
		crossed := func(o *overheard, sent *node) []*nats.Msg {
			if err := errors.Join(sent.nc.Flush(), spy.Flush()); err != nil {
				t.Fatal(err)
			}
			return o.all()
		}
		if all := crossed(frames, a); len(all) > 0 {
			t.Errorf("%d frames have crossed the server: %s", len(all), all[0].Subject)
		}
		all := crossed(reports, a)
		if len(all) != 1 {
			t.Fatalf("%d reports have crossed the server", len(all))
		}
		if _, _, _, list, err := frame.DecodeReport(all[0].Data); err != nil || len(list) > 0 || all[0].Reply != "" {
			t.Errorf("the report that tries the permission: %v, %v, answered to %q", list, err, all[0].Reply)
		}
		if n := a.count(func(e event.Event) bool { _, is := e.(event.TaskRejected); return is }); n > 0 {
			t.Errorf("%d messages are refused: %s", n, a.dump())
		}

		a.close(t)
		b := newNode(t, s, "b", nil)
		leader(t, b)
		newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		run(t, c, 1)
		info, _ := b.session.Role(testRole)
		v, err := fencing.NewVerifier(info.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		all = crossed(frames, b)
		if len(all) == 0 {
			t.Error("no frame for another worker has crossed the server")
		}
		for _, m := range all {
			raw, signature, err := frame.Open(m.Data)
			if err == nil {
				err = v.Verify(raw, signature)
			}
			if err != nil {
				t.Errorf("%s: %v", m.Subject, err)
			}
		}
	})
}

// TestTwoSchedulersOfOneSession: two schedulers and two workers of one session, whose tasks are of
// one kind. Each worker runs the tasks of its own scheduler.
func TestTwoSchedulersOfOneSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const other = "other"
		ran := newTally()
		a := newNode(t, s, "a", doubling(t, "first", ran))
		second, err := assign.New(a.session, assign.Config{Namespace: other, Role: other, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		doubling(t, "second", ran)(second)
		e, err := a.session.Campaign(election.RoleConfig{Role: other})
		if err != nil {
			t.Fatal(err)
		}
		term := make(chan error, 1)
		go func() { term <- e.Run(t.Context(), second.Lead) }()
		c, err := assign.NewClient(a.nc, assign.ClientConfig{Namespace: other, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mine := New(t, s)
		for i := range 20 {
			run(t, mine, i)
			if i%2 == 0 {
				run(t, c, i)
			}
		}
		if ran.by["first"] != 20 || ran.by["second"] != 10 {
			t.Errorf("ran: %v", ran.by)
		}
		a.close(t)
		<-term
	})
}

// TestAWorkerBesideItsSchedulerThatIsDenied is told of, although nothing that it does needs the
// permission before another process leads. It works meanwhile if it may listen.
func TestAWorkerBesideItsSchedulerThatIsDenied(t *testing.T) {
	for subject, listens := range map[string]bool{".work.assign.a": false, ".work.sync.a": false, ".report.a": true} {
		t.Run(subject, func(t *testing.T) {
			publish, subscribe := []string(nil), []string{said + subject}
			if listens {
				publish, subscribe = subscribe, nil
			}
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				ran := newTally()
				a := newNode(t, s, "a", doubling(t, "a", ran))
				leader(t, a)
				p, err := assign.Submit(t.Context(), rootClient(t, s), double, 1)
				if err != nil {
					t.Fatal(err)
				}
				natstest.Eventually(t, "a fault that names the subject", time.Minute, func() (bool, string) {
					all := faultsOf(a, election.ErrPermission)
					return len(all) > 0 && strings.Contains(all[0].Err.Error(), subject), fmt.Sprint(all)
				})
				if !listens {
					newNode(t, rooted{s}, "w", doubling(t, "w", ran), workerOnly)
				}
				if out, err := p.Wait(within(t, time.Minute)); out != 2 || err != nil {
					t.Error(out, err)
				}
				if by := ran.by["a"] > 0; by != listens {
					t.Errorf("ran: %v", ran.by)
				}
			}, denying(publish, subscribe))
		})
	}
}

// run submits a task and waits for it.
func run(t *testing.T, c *assign.Client, input int) {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, double, input)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
