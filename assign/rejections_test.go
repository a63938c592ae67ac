package assign_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// TestEveryVerdict makes a worker give each answer to an assignment that there is.
func TestEveryVerdict(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly, slots(2))
		f := newForger(t, s, a)
		f.accepted(w, "one", "slow")
		verdict := func(what string, want tasks.Verdict, low uint64, x frame.Task) {
			t.Helper()
			answers := f.push(w, f.assign(f.to(w), low, x))
			if len(answers) != 1 || answers[0].Verdict != want || answers[0].ID != x.ID {
				t.Errorf("%s: %+v, want %v", what, answers, want)
			}
		}
		again := f.task("one", "slow")
		again.Attempt.N++
		verdict("another attempt of one that runs", tasks.Busy, 0, again)
		verdict("the same frame again", tasks.Busy, 0, again)
		verdict("a kind without a handler", tasks.UnknownKind, 0, f.task("x", "nobody"))
		late := f.task("late", "slow")
		late.Left = -time.Millisecond
		verdict("past its deadline", tasks.Expired, 0, late)
		stopped := f.task("stopped", "slow")
		v := f.to(w)
		stop := workers.StopOrder{ID: stopped.ID, Attempt: stopped.Attempt, Serial: stopped.Serial}
		answers := f.send("cancel", w, frame.Seal(frame.EncodeStop(&v, stop), f.sign))
		if len(answers) != 1 || answers[0].Verdict != tasks.Halted {
			t.Errorf("a stop: %+v", answers)
		}
		verdict("stopped before it came", tasks.Halted, 0, stopped)
		verdict("the second slot", tasks.Accepted, 0, f.task("two", "slow"))
		full := f.task("three", "slow")
		verdict("no slot left", tasks.Full, 0, full)
		before := w.count(isRejected("replay"))
		// the frame's own mark counts afterwards
		verdict("answered long ago, says the scheduler", tasks.Full, full.Serial, full)
		verdict("a replay", tasks.Replayed, 0, full)
		natstest.Settle(t)
		if n := w.count(isRejected("replay")); n != before+1 {
			t.Errorf("%d replays counted, want %d", n, before+1)
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			w.close(t)
		}()
		natstest.Eventually(t, "a worker that shuts down says so", 10*time.Second, func() (bool, string) {
			answers := f.push(w, f.assign(f.to(w), 0, f.task("more", "slow")))
			return len(answers) == 1 && answers[0].Verdict == tasks.Draining, w.dump()
		})
		close(b.gate)
		<-closed
		for _, id := range []string{"x", "late", "stopped", "three", "more"} {
			if n := b.runs(id); n != 0 {
				t.Errorf("%s was rejected, and started %d times", id, n)
			}
		}
	})
}

// TestEveryGateReason: a frame that is not the scheduler's word is counted under the first reason
// that applies, not answered, not run.
func TestEveryGateReason(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		idle := newNode(t, s, "idle", nil, workerOnly)
		f := newForger(t, s, a)
		f.accepted(w, "good", "double")
		stranger, err := fencing.NewSigner()
		if err != nil {
			t.Fatal(err)
		}
		edited := func(edit func(*frame.Envelope)) []byte {
			v := f.to(w)
			edit(&v)
			return f.assign(v, 0, f.task("bad", "double"))
		}
		by := *f
		by.sign = stranger.Sign
		version := edited(func(*frame.Envelope) {})
		version[0]++
		v := f.to(w)
		raw := frame.EncodeSync(&v)
		raw[1] = byte(frame.FrameSettled) // no word of a scheduler's, though it is signed
		kind := frame.Seal(raw, f.sign)
		for _, tt := range []struct {
			reason string
			frame  []byte
		}{
			{"version", version},
			{"version", kind},
			{"stale_epoch", edited(func(v *frame.Envelope) { v.Epoch--; v.Term--; v.Session = 1 })},
			{"stale_epoch", edited(func(v *frame.Envelope) { v.Term++; v.Session = 1 })}, // a term cannot begin after its epoch
			{"unknown_epoch", edited(func(v *frame.Envelope) { v.Epoch++ })},
			{"signature", by.assign(f.to(w), 0, f.task("bad", "double"))},
			{"audience", edited(func(v *frame.Envelope) { v.Session-- })},
			{"audience", edited(func(v *frame.Envelope) { v.Instance = "x" })},
			{"audience", edited(func(v *frame.Envelope) { v.Namespace = "x" })},
			{"audience", edited(func(v *frame.Envelope) { v.Role = "x" })},
		} {
			f.refused(w, tt.reason, tt.frame)
		}
		f.refused(idle, "not_ready", f.assign(f.to(idle), 0, f.task("bad", "double")))
		if n := ran.runs("bad"); n != 0 {
			t.Errorf("%d of them were run", n)
		}
		f.accepted(w, "afterwards", "double")
	})
}

// TestVerifyOff: signatures alone are not looked at, and that is said once.
func TestVerifyOff(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		trusting := func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Verify = assign.VerifyOff }
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly, trusting)
		f := newForger(t, s, a)
		f.sign = func([]byte) []byte { return make([]byte, 64) }
		f.accepted(w, "unsigned", "double")
		v := f.to(w)
		v.Session--
		f.refused(w, "audience", f.assign(v, 0, f.task("bad", "double")))
		v = f.to(w)
		v.Epoch--
		v.Term--
		v.Session--
		f.refused(w, "stale_epoch", f.assign(v, 0, f.task("bad", "double")))
		for n, want := range map[*node]int{w: 1, a: 0} {
			if k := n.count(func(e event.Event) bool { _, ok := e.(event.FramesUnverified); return ok }); k != want {
				t.Errorf("%s: %d events say that signatures are not checked, want %d", n.name, k, want)
			}
		}
		if ran.runs("bad") != 0 {
			t.Error("what was refused was run")
		}
	})
}

// TestOversizedFrame: a worker takes nothing larger than what a scheduler on its own server could
// send.
func TestOversizedFrame(t *testing.T) {
	var options *server.Options
	s := natstest.Server(t, natstest.Listen,
		func(o *natsrun.Options) { o.Configure = func(so *server.Options) { options = so } })
	ran := newTally()
	a := newNode(t, s, "a", nil)
	leader(t, a)
	w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
	larger := options.Clone()
	larger.MaxPayload = 4 << 20 // for those who connect from now on
	if err := s.Running().ReloadOptions(larger); err != nil {
		t.Fatal(err)
	}
	f := newForger(t, s, a)
	f.accepted(w, "good", "double")
	large := f.task("large", "double")
	large.Payload = make([]byte, 2<<20)
	f.refused(w, "size", f.assign(f.to(w), 0, large))
	f.accepted(w, "afterwards", "double")
	if n := ran.runs("large"); n != 0 {
		t.Errorf("it was run %d times", n)
	}
}
