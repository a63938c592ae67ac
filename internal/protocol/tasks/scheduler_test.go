package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// driver steps a scheduler of epoch 100 by hand.
type driver struct {
	t        *testing.T
	s        *Scheduler
	now      Instant
	revision uint64
	out      []Effect
}

func newDriver(t *testing.T) *driver {
	return &driver{t: t, now: 1, s: NewScheduler(SchedulerConfig{
		Epoch: 100, CrashBudget: 3, AnswerTime: 100 * time.Millisecond, WriteTime: time.Second,
		Rand: func() float64 { return 0.5 },
	})}
}

func (b *driver) step(ev Event) []Effect {
	b.now = b.now.Add(time.Millisecond)
	return append(b.s.Step(b.now, ev, nil), b.s.Step(b.now, Tick{}, nil)...)
}

func (b *driver) pass(d time.Duration) []Effect {
	b.now = b.now.Add(d)
	return b.s.Step(b.now, Tick{}, nil)
}

func find[E Effect](all []Effect) (e E, ok bool) {
	for _, x := range all {
		if e, ok := x.(E); ok {
			return e, true
		}
	}
	return e, false
}

var policy = &Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute}

// read brings a scheduler to where it has sealed and read one submission.
func (b *driver) read() {
	b.t.Helper()
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	w, ok := find[WriteSeal](b.step(CaughtUp{}))
	if !ok {
		b.t.Fatal("no seal was written")
	}
	b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 2})
	b.seal(2)
}

// seal shows two seals, the second at revision.
func (b *driver) seal(revision uint64) []Effect {
	b.t.Helper()
	first := b.step(SealSeen{Revision: revision - 1, Epoch: b.s.cfg.Epoch, Ours: true})
	if _, ok := find[WriteSeal](first); !ok {
		b.t.Fatalf("one seal is enough: %+v", first)
	}
	return b.step(SealSeen{Revision: revision, Epoch: b.s.cfg.Epoch, Ours: true})
}

func member(session uint64) Member {
	return Member{
		Instance: fmt.Sprint("w", session), Session: session, Described: true, Works: true, Slots: 1,
		Kinds: []string{"k"},
	}
}

// begin brings a scheduler to where it has handed x to the worker of session 5.
func (b *driver) begin() Assign {
	b.t.Helper()
	b.read()
	b.step(Members{List: []Member{member(5)}})
	p, ok := find[Assign](b.step(Synced{Session: 5}))
	if !ok {
		b.t.Fatal("nothing was handed out")
	}
	return p
}

func TestNothingIsHandedOutBefore(t *testing.T) {
	later := member(200) // it joined after our term began: it need not answer
	for name, prepare := range map[string]func(b *driver) []Effect{
		"the stream is sealed": func(b *driver) []Effect {
			b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
			b.step(CaughtUp{})
			return b.step(Members{List: []Member{later}})
		},
		"the members are carried": func(b *driver) []Effect {
			b.read()
			return b.pass(time.Minute)
		},
		"every earlier member has answered": func(b *driver) []Effect {
			b.read()
			b.step(Members{List: []Member{member(5), later}})
			return b.pass(time.Minute)
		},
		"an earlier member without a record has answered": func(b *driver) []Effect {
			b.read()
			b.step(Members{List: []Member{{Instance: "w", Session: 5}, later}})
			return b.pass(time.Minute)
		},
	} {
		b := newDriver(t)
		if p, ok := find[Assign](prepare(b)); ok || b.s.Ready() {
			t.Errorf("handed out before %s: %+v", name, p)
		}
	}
}

func TestWhatIsHandedOutWhenEverybodyHasAnsweredOrIsDead(t *testing.T) {
	b := newDriver(t)
	b.read()
	b.step(Members{List: []Member{member(5), member(6), member(200)}})
	b.step(Synced{Session: 5})
	if b.s.Ready() {
		t.Fatal("ready before session 6 has answered")
	}
	if _, ok := find[Assign](b.step(Dead{Session: 6})); !ok {
		t.Error("not handed out though session 6 is dead")
	}
}

func TestAdoptsTheLargestAttempt(t *testing.T) {
	b := newDriver(t)
	b.read()
	b.step(Noted{ID: "x", Revision: 3, Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1}})
	b.step(Members{List: []Member{member(5), member(6), member(7)}})
	b.step(Synced{Session: 5, Held: []Held{{"x", Attempt{50, 1}, 1}}}) // known to have ended
	b.step(Synced{Session: 6, Held: []Held{{"x", Attempt{50, 3}, 1}}})
	effects := b.step(Synced{Session: 7, Held: []Held{{"x", Attempt{50, 2}, 1}}})
	if r, ok := find[Ready](effects); !ok || r.Adopted != 1 {
		t.Errorf("%+v", r)
	}
	if g, _ := b.s.TaskInfo(b.now, "x"); !g.Running || g.Instance != "w6" {
		t.Errorf("%+v", g)
	}
	stopped := map[uint64]bool{}
	for _, e := range effects {
		if s, ok := e.(Stop); ok {
			stopped[s.Session] = true
		}
	}
	if !stopped[5] || !stopped[7] || stopped[6] {
		t.Errorf("stopped %v", stopped)
	}
}

// TestStaleEpochIsNoRejection: an earlier copy of the frame may have been accepted, and its answer
// lost.
func TestStaleEpochIsNoRejection(t *testing.T) {
	b := newDriver(t)
	p := b.begin()
	b.step(Members{List: []Member{member(5), member(200)}})
	a := p.List[0]
	if other, ok := find[Assign](b.step(Answered{
		Session: 5, Frame: p.Frame,
		Answers: []Answer{{a.ID, a.Attempt, StaleEpoch}},
	})); ok && other.Session != 5 {
		t.Errorf("given to %d", other.Session)
	}
	if other, ok := find[Assign](b.step(Answered{
		Session: 5, Frame: p.Frame,
		Answers: []Answer{{a.ID, a.Attempt, Full}},
	})); !ok || other.Session != 200 {
		t.Errorf("a real rejection: %+v", other)
	}
}

func TestUnknownOutcomeIsNotWrittenAgainBeforeANewSeal(t *testing.T) {
	b := newDriver(t)
	p := b.begin()
	a := p.List[0]
	w, ok := find[WriteOutcome](b.step(Done{
		Session: 5, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Succeeded},
		Ref: "ref",
	}))
	if !ok || w.Guard != 2 {
		t.Fatalf("%+v", w)
	}
	effects := b.step(Written{Write: w.Write, Outcome: record.Unknown})
	seal, ok := find[WriteSeal](effects)
	if _, again := find[WriteOutcome](effects); !ok || again || seal.Expect != 2 {
		t.Fatalf("%+v", effects)
	}
	effects = b.step(SealSeen{Revision: 9, Epoch: 100, Ours: true})
	if second, ok := find[WriteSeal](effects); !ok || second.Expect != 9 {
		t.Fatalf("one seal is not enough: %+v", effects)
	}
	effects = b.step(SealSeen{Revision: 10, Epoch: 100, Ours: true})
	if again, ok := find[WriteOutcome](effects); !ok || again.Guard != 10 {
		t.Fatalf("%+v", effects)
	}
	// The stream shows it: acknowledged, and gone from the state.
	effects = b.step(Settled{ID: "x", Revision: 11})
	if s, ok := find[Settle](effects); !ok || s.Ref != "ref" || s.Stale {
		t.Errorf("%+v", effects)
	}
	if _, known := b.s.TaskInfo(b.now, "x"); known {
		t.Error("it is still in the state")
	}
}

// TestATaskThatHasEndedBehindOurBackIsNotRun: its outcome was replaced by a new submission before
// the reading came to it, and that stands behind our first seal.
func TestATaskThatHasEndedBehindOurBackIsNotRun(t *testing.T) {
	b := newDriver(t)
	b.step(Members{List: []Member{member(200)}})
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	b.step(CaughtUp{})
	if p, early := find[Assign](b.step(SealSeen{Revision: 9, Epoch: 100, Ours: true})); early {
		t.Fatalf("%+v", p)
	}
	b.step(Submitted{ID: "x", Revision: 10, Policy: policy})
	p, ok := find[Assign](b.step(SealSeen{Revision: 11, Epoch: 100, Ours: true}))
	if !ok || len(p.List) != 1 || p.List[0].Revision != 10 {
		t.Errorf("%+v", p)
	}
}

// TestASubmissionBehindTheSealIsNotWrittenOver: the outcome was stored and its acknowledgement
// lost, and the task was submitted again before the reading came to it: so the stream never shows
// the outcome, and the submission only behind the seal.
func TestASubmissionBehindTheSealIsNotWrittenOver(t *testing.T) {
	b := newDriver(t)
	a := b.begin().List[0]
	w, _ := find[WriteOutcome](b.step(Done{Session: 5, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Permanent}}))
	b.step(Written{Write: w.Write, Outcome: record.Unknown})
	b.step(SealSeen{Revision: 9, Epoch: 100, Ours: true})
	b.step(Submitted{ID: "x", Revision: 10, Policy: policy})
	effects := b.step(SealSeen{Revision: 11, Epoch: 100, Ours: true})
	if again, ok := find[WriteOutcome](effects); ok {
		t.Errorf("%+v", again)
	}
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Revision != 10 || g.Tries > 1 {
		t.Errorf("%+v", g)
	}
}

func TestALaterSealEndsTheScheduler(t *testing.T) {
	b := newDriver(t)
	b.begin()
	if f, ok := find[Fenced](b.step(SealSeen{Revision: 9, Epoch: 101})); !ok || f.By != 101 {
		t.Errorf("%+v", f)
	}
	if effects := b.pass(time.Hour); len(effects) != 0 {
		t.Errorf("it continues: %+v", effects)
	}
}

func TestRotationKeepsTheBooks(t *testing.T) {
	b := newDriver(t)
	p := b.begin()
	a := p.List[0]
	b.step(Answered{Session: 5, Frame: p.Frame, Answers: []Answer{{a.ID, a.Attempt, Accepted}}})
	seal, ok := find[WriteSeal](b.step(Rotated{Epoch: 150}))
	if !ok || seal.Epoch != 150 {
		t.Fatalf("%+v", seal)
	}
	b.step(SealSeen{Revision: 9, Epoch: 150, Ours: true})
	w, ok := find[WriteOutcome](b.step(Done{Session: 5, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Succeeded}}))
	if !ok || w.Guard != 9 {
		t.Errorf("%+v", w)
	}
}

func TestCrashBudget(t *testing.T) {
	b := newDriver(t)
	b.begin()
	for i := range 3 {
		session := uint64(300 + i)
		effects := b.step(Dead{Session: []uint64{5, 300, 301}[i]})
		if i == 2 {
			if w, ok := find[WriteOutcome](effects); !ok || w.Outcome.Status != StatusDead ||
				w.Outcome.Cause != CauseWorkerLost {
				t.Errorf("after three lost workers: %+v", effects)
			}
			return
		}
		n, ok := find[WriteNote](effects)
		if !ok || n.Retry.Crashes != i+1 {
			t.Fatalf("%+v", effects)
		}
		b.step(Members{List: []Member{member(session)}})
		p, ok := find[Assign](b.step(Written{Write: n.Write, Outcome: record.Won}))
		if !ok || p.List[0].Try != i+2 {
			t.Fatalf("not run again: %+v", p)
		}
		b.step(Answered{Session: session, Frame: p.Frame, Answers: []Answer{{"x", p.List[0].Attempt, Accepted}}})
	}
}

// TestItDoesNotAskForTicksInVain: while nothing can be handed out yet, there is nothing to wake up
// for.
func TestItDoesNotAskForTicksInVain(t *testing.T) {
	b := newDriver(t)
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	if next := b.s.Next(b.now); next < time.Minute {
		t.Errorf("before it has read: in %v", next)
	}
	b = newDriver(t)
	b.begin()
	if next := b.s.Next(b.now); next < 50*time.Millisecond {
		t.Errorf("while a worker has not answered: in %v", next)
	}
	b = readyDriver(t, SchedulerConfig{})
	b.submit("x", Policy{}, nil)
	b.pass(0)
	if next := b.s.Next(b.now); next < time.Minute {
		t.Errorf("while there is no worker: in %v", next)
	}
}
