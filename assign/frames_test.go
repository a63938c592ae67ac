package assign_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestFramesThatAreNotTheSchedulersAreNeverRun copies a real frame on its way, and sends it again
// in every wrong form.
func TestFramesThatAreNotTheSchedulersAreNeverRun(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.w")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, double, 1, assign.WithID("real"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		real, err := frames.NextMsg(time.Second)
		if err != nil {
			t.Fatal(err)
		}
		raw, _, err := frame.Open(real.Data)
		if err != nil {
			t.Fatal(err)
		}
		v, low, list, err := frame.DecodeAssign(raw)
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := fencing.NewSigner()
		if err != nil {
			t.Fatal(err)
		}
		list[0].ID = "forged"
		forge := func(edit func(v *frame.Envelope)) []byte {
			v := v
			edit(&v)
			list[0].Attempt.N++
			list[0].Serial += 100
			return frame.Seal(frame.EncodeAssign(&v, low, list), stranger.Sign)
		}
		tampered := append([]byte(nil), real.Data...)
		tampered[len(tampered)/2] ^= 1
		version := append([]byte(nil), real.Data...)
		version[0] = 9
		for _, tt := range []struct {
			reason string
			data   []byte
		}{
			{"replay", nil}, // the real one again: answered from memory
			{"signature", forge(func(*frame.Envelope) {})},
			{"signature", tampered},
			{"signature", []byte("x")},
			{"version", version},
			{"stale_epoch", forge(func(v *frame.Envelope) { v.Epoch--; v.Term-- })},
			{"unknown_epoch", forge(func(v *frame.Envelope) { v.Epoch += 10 })}, // epoch poisoning
		} {
			before := w.count(isRejected(tt.reason))
			data := tt.data
			if data == nil {
				data = real.Data
			}
			inbox := spy.NewInbox()
			answers, err := spy.SubscribeSync(inbox)
			if err != nil {
				t.Fatal(err)
			}
			if err := spy.PublishMsg(&nats.Msg{Subject: real.Subject, Reply: inbox, Data: data}); err != nil {
				t.Fatal(err)
			}
			if tt.data == nil {
				if _, err := answers.NextMsg(time.Second); err != nil {
					t.Errorf("a repeated frame was not answered: %v", err)
				}
				continue
			}
			natstest.Eventually(t, "a rejection counted as "+tt.reason, 5*time.Second, func() (bool, string) {
				return w.count(isRejected(tt.reason)) > before, w.dump()
			})
		}
		if n := ran.of["real"]; n != 1 || len(ran.of) != 1 {
			t.Errorf("ran %v, want the real task once", ran.of)
		}
		// The view was not poisoned: the real scheduler is still believed.
		p, err = assign.Submit(t.Context(), c, double, 4)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); out != 8 || err != nil {
			t.Errorf("afterwards: %d, %v", out, err)
		}
	})
}

// TestFrameForAnotherSession: the audience of a frame is an instance and its session.
func TestFrameForAnotherSessionIsNotRun(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.w")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, double, 1, assign.WithID("real"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		real, err := frames.NextMsg(time.Second)
		if err != nil {
			t.Fatal(err)
		}
		w.close(t)
		again := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		natstest.Eventually(t, "a rejection for its audience", 5*time.Second, func() (bool, string) {
			if err := spy.Publish(real.Subject, real.Data); err != nil { // the new session may not have subscribed yet
				t.Fatal(err)
			}
			return again.count(isRejected("audience")) > 0, again.dump()
		})
		if ran.of["real"] != 1 {
			t.Errorf("ran %d times", ran.of["real"])
		}
	})
}

// TestLateResultIsStale: attempt 2 runs, and somebody reports attempt 1 as done.
func TestLateResultIsStale(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.*")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		p := submitSlow2(t, c)
		b.allStarted(t, 1)
		session := bridge.Number(w.session)
		m, err := frames.NextMsg(time.Second)
		if err != nil {
			t.Fatal(err)
		}
		raw, _, _ := frame.Open(m.Data)
		v, _, list, err := frame.DecodeAssign(raw)
		if err != nil {
			t.Fatal(err)
		}
		w.link.Cut()
		x := newNode(t, s, "x", b.register(t, "x"), workerOnly)
		b.allStarted(t, 2)
		for _, of := range []uint64{session, bridge.Number(x.session)} { // also under a live session that has another attempt
			instance := map[uint64]string{session: "w", bridge.Number(x.session): "x"}[of]
			report := frame.EncodeReport(instance, of, v.Epoch, []frame.Finding{{
				ID: "late", Attempt: list[0].Attempt, Verb: tasks.Succeeded, Data: []byte(`"stale"`),
			}})
			answer, err := spy.Request(saidIn(t, spy, bucketStream)+".report."+instance, report, 2*time.Second)
			if err != nil {
				if of == session {
					continue // a session that is dead is not even answered
				}
				t.Fatal(err)
			}
			stale, err := frame.DecodeSettled(answer.Data)
			if err != nil || len(stale) != 1 || !stale[0] {
				t.Errorf("settled %v, %v", stale, err)
			}
		}
		if n := a.count(func(e event.Event) bool { _, ok := e.(event.TaskStale); return ok }); n == 0 {
			t.Error("no stale result was counted")
		}
		if st, err := p.Status(t.Context()); err != nil || st.State != assign.StateRunning || st.Worker != "x" {
			t.Errorf("%+v, %v", st, err)
		}
		close(b.gate)
		if out, err := p.Wait(t.Context()); out != "late by x" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		w.link.Heal()
	})
}
