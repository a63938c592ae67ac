package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// twice is a handler whose first attempt fails and whose second waits to be let go.
type twice struct {
	mu     sync.Mutex
	runs   int
	second chan struct{} // closed when attempt 2 runs
	gate   chan struct{}
}

func newTwice() *twice { return &twice{second: make(chan struct{}), gate: make(chan struct{})} }

func (w *twice) register(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, slow, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			w.mu.Lock()
			w.runs++
			w.mu.Unlock()
			if task.Attempt() == 1 {
				return "", errors.New("again")
			}
			close(w.second) // a third attempt panics here
			select {
			case <-w.gate:
				return "second", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func (w *twice) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs
}

// overheard keeps what goes over a subject.
type overheard struct {
	mu   sync.Mutex
	msgs []*nats.Msg
}

func overhear(t *testing.T, nc *nats.Conn, subject string) *overheard {
	t.Helper()
	o := &overheard{}
	_, err := nc.Subscribe(subject, func(m *nats.Msg) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.msgs = append(o.msgs, m)
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *overheard) all() []*nats.Msg {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]*nats.Msg(nil), o.msgs...)
}

// assigned is what an assign frame says.
func assigned(t *testing.T, m *nats.Msg) (frame.Envelope, []frame.Task) {
	t.Helper()
	raw, _, err := frame.Open(m.Data)
	if err != nil {
		t.Fatal(err)
	}
	v, _, list, err := frame.DecodeAssign(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v, list
}

// secondRuns brings a task to its second attempt on the one worker there is, and returns both
// frames and all reports.
func secondRuns(t *testing.T, s *natsrun.Server) (h *twice, a, w *node, p *assign.Pending[string],
	frames, reports *overheard, nc *nats.Conn,
) {
	t.Helper()
	h = newTwice()
	a = newNode(t, s, "a", nil)
	leader(t, a)
	nc = natstest.Connect(t, s)
	frames, reports = overhear(t, nc, said+".work.assign.w"), overhear(t, nc, said+".report.w")
	w = newNode(t, s, "w", h.register(t), workerOnly)
	p = submitSlow2(t, New(t, s))
	<-h.second
	natstest.Eventually(t, "the scheduler knows of attempt 2", 5*time.Second, func() (bool, string) {
		st, err := p.Status(t.Context())
		return err == nil && st.State == assign.StateRunning && len(frames.all()) >= 2 && len(reports.all()) >= 1,
			fmt.Sprint(st, err)
	})
	return h, a, w, p, frames, reports, nc
}

// goesOn checks that attempt 2 is what counts, and ends the task with it.
func goesOn(t *testing.T, h *twice, a, w *node, p *assign.Pending[string]) {
	t.Helper()
	natstest.Settle(t)
	if st, err := p.Status(t.Context()); err != nil || st.State != assign.StateRunning || st.Worker != "w" {
		t.Errorf("%+v, %v: attempt 2 was to run on", st, err)
	}
	close(h.gate)
	if out, err := p.Wait(t.Context()); out != "second" || err != nil {
		t.Errorf("%q, %v\n%s%s", out, err, a.dump(), w.dump())
	}
	if st, err := p.Status(t.Context()); err != nil || st.Attempts != 2 || h.count() != 2 {
		t.Errorf("%+v, %v; %d runs", st, err, h.count())
	}
}

func TestLateResultOfAttempt1WhileAttempt2Runs(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, a, w, p, frames, _, nc := secondRuns(t, s)
		v, first := assigned(t, frames.all()[0])
		for _, verb := range []tasks.Verb{tasks.Succeeded, tasks.Permanent, tasks.Failed, tasks.Snoozed, tasks.Released} {
			report := frame.EncodeReport("w", v.Session, v.Epoch, []frame.Finding{{
				ID: "late", Attempt: first[0].Attempt, Verb: verb, Data: []byte(`"stale"`),
			}})
			answer, err := nc.Request(saidIn(t, nc, bucketStream)+".report.w", report, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if stale, err := frame.DecodeSettled(answer.Data); err != nil || len(stale) != 1 || !stale[0] {
				t.Errorf("%v: settled %v, %v", verb, stale, err)
			}
		}
		goesOn(t, h, a, w, p)
	})
}

// TestAckOfDelivery1WhileDelivery2Runs: neither the worker's answer to the first frame, nor the
// scheduler's to the first report, may be taken for that to the second.
func TestAckOfDelivery1WhileDelivery2Runs(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, a, w, p, frames, reports, nc := secondRuns(t, s)
		all := frames.all()
		v1, first := assigned(t, all[0])
		v2, second := assigned(t, all[len(all)-1])
		if first[0].Attempt == second[0].Attempt {
			t.Fatal("both frames carry one attempt")
		}
		for _, verdict := range []tasks.Verdict{tasks.Accepted, tasks.Full, tasks.Draining, tasks.Halted} {
			old := []tasks.Answer{{ID: "late", Attempt: first[0].Attempt, Verdict: verdict}}
			for reply, number := range map[string]uint64{all[0].Reply: v1.Number, all[len(all)-1].Reply: v2.Number} {
				if err := nc.Publish(reply, frame.EncodeAnswers(v1.Session, number, old, "")); err != nil {
					t.Fatal(err)
				}
			}
		}
		report := reports.all()[0].Reply
		dot := strings.LastIndex(report, ".")
		number, err := strconv.ParseUint(report[dot+1:], 36, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []uint64{number, number + 1} { // of the first report, and of one that is not sent yet
			if err := nc.Publish(report[:dot+1]+strconv.FormatUint(n, 36), frame.EncodeSettled([]bool{false})); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		goesOn(t, h, a, w, p)
	})
}

// TestReplayedFrame: a frame that comes again is answered, and runs nothing: while its task runs,
// after it has ended, and when the scheduler has long done with it.
func TestReplayedFrame(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		nc := natstest.Connect(t, s)
		frames := overhear(t, nc, said+".work.assign.w")
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		c := New(t, s)
		f := &forger{t: t, nc: nc}
		for i := range 20 {
			p, err := assign.Submit(t.Context(), c, double, i, assign.WithID(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, m := range once(frames.all()) {
				if answers := f.push(w, m.Data); len(answers) == 0 {
					t.Error("a repeated frame was not answered")
				}
			}
		}
		if ran.max() != 1 || len(ran.of) != 20 {
			t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
		}
		if n := w.count(isRejected("replay")); n == 0 {
			t.Error("no replay was counted: the scheduler never said that it has done with a frame")
		}
	})
}

// once leaves out what was said again.
func once(all []*nats.Msg) (kept []*nats.Msg) {
	seen := map[string]bool{}
	for _, m := range all {
		if !seen[string(m.Data)] {
			seen[string(m.Data)] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// TestForgedFrame: signed by somebody else, by another member, by the leader and then changed, or
// not at all.
func TestForgedFrame(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		f := newForger(t, s, a)
		f.accepted(w, "good", "double")
		good := f.assign(f.to(w), 0, f.task("bad", "double"))
		member := *f
		member.sign = bridge.LeaseOf(hostOf(t, w)).(interface{ Signer() *fencing.Signer }).Signer().Sign
		f.refused(w, "signature", member.assign(f.to(w), 0, f.task("bad", "double")))
		none := *f
		none.sign = func([]byte) []byte { return make([]byte, 64) }
		f.refused(w, "signature", none.assign(f.to(w), 0, f.task("bad", "double")))
		for at := 2; at < len(good); at += 7 { // version and type have reasons of their own
			changed := append([]byte(nil), good...)
			changed[at] ^= 0x20
			if answers := f.push(w, changed); len(answers) != 0 {
				t.Errorf("changed at byte %d: answered %v", at, answers)
			}
		}
		if ran.runs("bad") != 0 || len(ran.of) != 1 {
			t.Errorf("ran %v", ran.of)
		}
	})
}

// TestTruncatedFrame: cut on its way, or made so by a holder of the key.
func TestTruncatedFrame(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		f := newForger(t, s, a)
		f.accepted(w, "good", "double")
		v := f.to(w)
		raw := frame.EncodeAssign(&v, 0, []frame.Task{f.task("bad", "double"), f.task("bad", "double")})
		sealed := frame.Seal(append([]byte(nil), raw...), f.sign)
		counted := func() int { return w.count(isRejected("signature")) + w.count(isRejected("malformed")) }
		before := counted()
		cuts := 0
		for n := 0; n < len(sealed); n += 5 {
			if answers := f.push(w, sealed[:n]); len(answers) != 0 {
				t.Errorf("%d of %d bytes: answered %v", n, len(sealed), answers)
			}
			cuts++
		}
		for n := 2; n < len(raw); n += 5 {
			if answers := f.push(w, frame.Seal(append([]byte(nil), raw[:n]...), f.sign)); len(answers) != 0 {
				t.Errorf("%d of %d bytes, signed: answered %v", n, len(raw), answers)
			}
			cuts++
		}
		natstest.Settle(t)
		if n := counted() - before; n < cuts*9/10 { // some are versions, or epochs, of their own
			t.Errorf("%d of %d are counted\n%s", n, cuts, w.dump())
		}
		if ran.runs("bad") != 0 {
			t.Error("part of a frame was run")
		}
		f.accepted(w, "afterwards", "double")
	})
}

// TestFutureEpochFrame: a newer epoch alone is never believed, no matter who has signed it, and the
// worker continues with the scheduler that it knows.
func TestFutureEpochFrame(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		f := newForger(t, s, a)
		f.accepted(w, "good", "double")
		for _, ahead := range []uint64{1, 1000, 1 << 62} {
			later := *f
			later.epoch += ahead
			f.refused(w, "unknown_epoch", later.assign(later.to(w), 0, later.task("bad", "double")))
			v := later.to(w)
			f.send("sync", w, frame.Seal(frame.EncodeSync(&v), f.sign))
		}
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, double, 4)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); out != 8 || err != nil {
			t.Errorf("afterwards: %d, %v\n%s", out, err, w.dump())
		}
		if ran.runs("bad") != 0 {
			t.Error("it was run")
		}
	})
}
