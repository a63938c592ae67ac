package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// proving is a leader whose writes the test answers, just after a beat.
func proving(t *testing.T) *rig {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	g.begin("r")
	for beat := g.m.lease.beat; beat == g.m.lease.beat; {
		g.run(10*time.Millisecond, nil)
	}
	g.mute, g.pend, g.effs = true, nil, nil
	return g
}

func (g *rig) answers() (all []Done) {
	for _, e := range g.effs {
		if d, is := e.(Done); is {
			all = append(all, d)
		}
	}
	g.effs = nil
	return all
}

// TestProofsAreShared: all who ask before a proof is sent share it, those who ask later share the
// next one, and no beat is sent for them while the last one is fresh.
func TestProofsAreShared(t *testing.T) {
	g := proving(t)
	const many = 1000
	for id := range CommandID(many) {
		g.step(Validate{ID: id + 1, Role: "r"})
	}
	if len(g.pend) != 1 || g.pend[0].Key != record.ProbeKey("a") {
		t.Fatalf("%d questions: writes %v", many, g.pend)
	}
	for _, want := range []int{1, many - 1} { // the first alone, and the others together
		if len(g.pend) != 1 {
			t.Fatalf("writes %v", g.pend)
		}
		w := g.pend[0]
		g.pend = nil
		g.win(w, false)
		if n := len(g.answers()); n != want {
			t.Fatalf("%d answers, want %d", n, want)
		}
	}
	if len(g.pend) != 0 || len(g.m.proofs) != 0 {
		t.Errorf("left over: %v, %d proofs", g.pend, len(g.m.proofs))
	}
}

// TestAProofIsTriedOften: beside a writer that never pauses, most tries of a proof have no answer.
// So many are made in an interval that one of them comes through, and no more than that.
func TestAProofIsTriedOften(t *testing.T) {
	g := proving(t)
	g.step(Validate{ID: 1, Role: "r"})
	tries := 0
	g.run(g.m.cfg.Heartbeat, func() {
		for _, w := range g.pend {
			if w.Key == record.ProbeKey("a") {
				tries++
				g.step(Written{ID: w.ID, Outcome: record.Unknown})
			}
		}
		g.pend = nil
	})
	if tries < provings*3/4 || tries > provings+1 {
		t.Errorf("%d tries in an interval, want about %d", tries, provings)
	}
}

// TestProofNeedsAFreshBeat: an interval after the last beat was sent, the next one must be
// acknowledged first.
func TestProofNeedsAFreshBeat(t *testing.T) {
	g := proving(t)
	later := g.m.cfg.Heartbeat + time.Millisecond
	g.now.Holder, g.now.Observer = g.now.Holder.Add(later), g.now.Observer.Add(later)
	g.step(Validate{ID: 1, Role: "r"})
	if len(g.pend) != 1 || g.pend[0].Key != "c.lease.a" {
		t.Fatalf("writes %v", g.pend)
	}
	beat := g.pend[0]
	g.pend = nil
	g.win(beat, true)
	if len(g.pend) != 1 || g.pend[0].Key != record.ProbeKey("a") {
		t.Fatalf("writes %v", g.pend)
	}
	if w := g.pend[0]; w.GuardKey != record.RoleKey("r") || w.GuardRevision != g.m.View().Role("r").Revision {
		t.Errorf("guarded by %s at %d, want the role's record", w.GuardKey, w.GuardRevision)
	}
}

// TestProofIsTriedAgain: a write without an outcome, as when it met another one in flight, is sent
// again for an interval. Then the question has no answer, and the term continues.
func TestProofIsTriedAgain(t *testing.T) {
	g := proving(t)
	g.step(Validate{ID: 1, Role: "r"})
	began, tries := g.now.Holder, 0
	var answers []Done
	for len(answers) == 0 {
		open := g.pend
		g.pend = nil
		for _, w := range open {
			if w.Key == "c.lease.a" {
				g.win(w, true)
				continue
			}
			tries++
			g.step(Written{ID: w.ID, Outcome: record.Unknown})
		}
		wait := g.m.Next(g.now)
		g.now.Holder, g.now.Observer = g.now.Holder.Add(wait), g.now.Observer.Add(wait)
		g.step(Tick{})
		answers = g.answers()
	}
	if answers[0].Err != ErrUnproven || tries < 4 || g.m.leading != 1 {
		t.Errorf("%v after %d tries, leading %d", answers[0].Err, tries, g.m.leading)
	}
	if took := g.now.Holder.Sub(began); took > 2*g.m.cfg.Heartbeat {
		t.Errorf("it took %v", took)
	}
	g.mute = false
	g.step(Validate{ID: 2, Role: "r"})
	if all := g.answers(); len(all) != 1 || all[0].Err != nil {
		t.Errorf("a later question: %v", all)
	}
}
