package assign_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestReportsToAnotherSchedulerAreNotHeard: a report names the epoch of the scheduler that it is
// for, and who makes it. Of an attempt that runs, one that names anything else is not even
// answered, ends nothing, and is counted with its reason; then the same is said rightly.
func TestReportsToAnotherSchedulerAreNotHeard(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.w")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		p := submitSlow2(t, New(t, s))
		b.allStarted(t, 1)
		m, err := frames.NextMsg(time.Second)
		if err != nil {
			t.Fatal(err)
		}
		v, list := assigned(t, m)
		say := func(subject, instance string, session, epoch uint64) (stale []bool, answered bool) {
			t.Helper()
			report := frame.EncodeReport(instance, session, epoch, []frame.Finding{{
				ID: "late", Attempt: list[0].Attempt, Verb: tasks.Succeeded, Data: []byte(`"said by hand"`),
			}})
			answer, err := spy.Request(saidIn(t, spy, bucketStream)+".report."+subject, report, time.Second) // virtual
			if err != nil {
				return nil, false
			}
			stale, err = frame.DecodeSettled(answer.Data)
			if err != nil {
				t.Errorf("%q: %v", answer.Data, err)
			}
			return stale, true
		}
		for _, x := range []struct {
			what, subject, instance string
			session, epoch          uint64
			reason                  string
		}{
			{"an epoch before its term", "w", "w", v.Session, v.Epoch - 1, "stale_epoch"},
			{"no epoch", "w", "w", v.Session, 0, "stale_epoch"},
			{"an epoch after its own", "w", "w", v.Session, v.Epoch + 1, "unknown_epoch"},
			{"an instance without that session", "x", "x", v.Session, v.Epoch, "audience"},
			{"another instance's subject", "x", "w", v.Session, v.Epoch, "audience"},
			{"a session that is not in the state", "w", "w", v.Session + 1000, v.Epoch, "audience"},
		} {
			counted := a.count(isRejected(x.reason))
			if stale, answered := say(x.subject, x.instance, x.session, x.epoch); answered {
				t.Errorf("%s: answered %v", x.what, stale)
			}
			if st, err := p.Status(t.Context()); err != nil || st.State != assign.StateRunning {
				t.Errorf("%s: %+v, %v; the attempt was to run on", x.what, st, err)
			}
			if n := a.count(isRejected(x.reason)); n != counted+1 {
				t.Errorf("%s: counted as %s %d times, want once", x.what, x.reason, n-counted)
			}
		}
		for i, nonsense := range []string{"", "nonsense", string(frame.EncodeSettled(nil))} {
			if err := spy.Publish(saidIn(t, spy, bucketStream)+".report.w", []byte(nonsense)); err != nil {
				t.Fatal(err)
			}
			natstest.Eventually(t, "a message that is not a report is counted", time.Second, func() (bool, string) {
				return a.count(isRejected("malformed")) == i+1, a.dump()
			})
		}
		if stale, answered := say("w", "w", v.Session, v.Epoch); !answered || len(stale) != 1 || stale[0] {
			t.Errorf("said rightly: answered %t, stale %v", answered, stale)
		}
		if out, err := p.Wait(t.Context()); out != "said by hand" || err != nil {
			t.Errorf("said rightly: %q, %v\n%s%s", out, err, a.dump(), w.dump())
		}
		close(b.gate)
	})
}

// TestAnswersToAnotherSchedulerCountForNothing: a worker that has tasks has not answered the next
// scheduler yet, when somebody says in its name that it holds nothing, to the scheduler of another
// epoch. None of them is given to anybody else: when the worker's own answer comes they are
// adopted.
func TestAnswersToAnotherSchedulerCountForNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		all := submitSlow(t, New(t, s), 4)
		b.allStarted(t, 4)
		z := newNode(t, s, "z", nil)
		newNode(t, s, "x", b.register(t, "x"), workerOnly)
		spy := natstest.Connect(t, s)
		syncs := overhear(t, spy, said+".work.sync.w")
		w.link.Hold(natsrun.ToServer) // for less than its lease
		a.close(t)
		leader(t, z)
		natstest.Eventually(t, "the next scheduler asks what it holds", 10*time.Second, func() (bool, string) {
			return len(syncs.all()) > 0, z.dump()
		})
		m := syncs.all()[0]
		raw, _, err := frame.Open(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := frame.DecodeSync(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range [][]byte{
			frame.EncodeSynced(&frame.Holding{Session: v.Session, Epoch: v.Epoch - 1}),
			frame.EncodeSynced(&frame.Holding{Session: v.Session, Epoch: v.Epoch + 1}),
			frame.EncodeSynced(&frame.Holding{Session: v.Session + 1, Epoch: v.Epoch}),
		} {
			if err := spy.Publish(m.Reply, answer); err != nil {
				t.Fatal(err)
			}
		}
		if err := spy.Publish(m.Reply, []byte("?")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // virtual: they would be handed out at once
		for _, reason := range []string{"stale_epoch", "unknown_epoch", "audience", "malformed"} {
			if n := z.count(isRejected(reason)); n != 1 {
				t.Errorf("%d answers are counted as %s, want 1", n, reason)
			}
		}
		if n := b.by("x"); n != 0 {
			t.Errorf("another worker was given %d of them", n)
		}
		w.link.Release()
		natstest.Eventually(t, "they are adopted", 10*time.Second, func() (bool, string) {
			adopted := func(e event.Event) bool {
				r, ok := e.(event.TaskRecovered)
				return ok && r.Adopted == 4
			}
			return z.count(adopted) == 1, z.dump()
		})
		close(b.gate)
		waitAll(t, all, z, w)
		if n := b.by("w"); n != 4 || b.startedTotal() != 4 {
			t.Errorf("%d handlers were started, %d of them by the worker that had the tasks; want 4", b.startedTotal(), n)
		}
	})
}
