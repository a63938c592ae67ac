package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAnOutcomeThatMayBeGone: the acknowledgement of an outcome was lost, and it has taken longer
// to find out than the outcome is kept. Then the id may be in use again, and nothing shows that the
// task has ended: the submission's revision is a condition too. A refusal says that the outcome was
// stored.
func TestAnOutcomeThatMayBeGone(t *testing.T) {
	for _, c := range []struct {
		name  string
		later time.Duration
		steps time.Duration // of the stream's clock meanwhile
		again bool
	}{
		{"soon", time.Minute, 0, false},
		{"late", 58 * time.Minute, 0, true},
		{"soon, and the stream's clock is put forward", time.Minute, time.Hour, true},
		{"late, and the stream's clock is put back", 58 * time.Minute, -30 * time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDriver(t)
			b.step(CaughtUp{})
			b.step(Members{List: []Member{idle(200, 10)}})
			b.sealAt(2, at(0, 0))
			p := Policy{Kind: "k", MaxAttempts: 3, Retention: time.Hour}
			push, ok := find[Assign](b.step(Submitted{ID: "x", Revision: 3, Stored: at(0, 0), Policy: &p}))
			if !ok {
				t.Fatal("not handed out")
			}
			b.accept([]Effect{push})
			w, ok := find[WriteOutcome](b.step(Done{
				Session: 200, ID: "x", Attempt: push.List[0].Attempt,
				Result: Result{Verb: Succeeded}, Ref: "ref",
			}))
			if !ok || w.Again {
				t.Fatalf("%+v", w)
			}
			b.step(Written{Write: w.Write, Outcome: record.Unknown})
			b.now = b.now.Add(c.later)
			stored := at(0, 0).Add(c.later + c.steps)
			again, ok := find[WriteOutcome](b.sealAt(9, stored))
			if !ok || again.Again != c.again || again.Revision != 3 || again.Guard != 9 {
				t.Fatalf("%+v", again)
			}
			effects := b.step(Written{Write: again.Write, Outcome: record.Refused})
			if _, settled := find[Settle](effects); settled {
				t.Fatalf("settled before it is known why it was refused: %+v", effects)
			}
			b.now = b.now.Add(time.Minute)
			effects = b.sealAt(12, stored.Add(time.Minute))
			_, known := b.s.TaskInfo(b.now, "x")
			if s, settled := find[Settle](effects); c.again && (known || !settled || s.Stale) {
				t.Errorf("it has ended: %+v", effects)
			}
			if _, once := find[WriteOutcome](effects); !c.again && (!once || !known) {
				t.Errorf("why it was refused is not known: %+v", effects)
			}
		})
	}
}

// TestAReadingThatTakesLong: while it continues an outcome may be stored by the scheduler before,
// and expire, behind its back.
func TestAReadingThatTakesLong(t *testing.T) {
	for _, slow := range []bool{false, true} {
		b := newDriver(t)
		p := Policy{Kind: "k", MaxAttempts: 3, Retention: time.Minute}
		b.step(Submitted{ID: "x", Revision: 1, Stored: at(0, 0), Policy: &p})
		if slow {
			b.now = b.now.Add(time.Minute)
		}
		b.step(CaughtUp{})
		b.step(Members{List: []Member{idle(200, 10)}})
		push, _ := find[Assign](b.sealAt(3, at(2, 0)))
		b.accept([]Effect{push})
		w, ok := find[WriteOutcome](b.step(Done{
			Session: 200, ID: "x", Attempt: push.List[0].Attempt,
			Result: Result{Verb: Succeeded},
		}))
		if !ok || w.Again != slow {
			t.Errorf("slow %t: %+v", slow, w)
		}
	}
}

// TestANoteOfTheSubmissionBefore: a task has ended, and its outcome is gone, before a scheduler has
// read of it; that one notes a failure of it when its id is in use again. The note is removed with
// the next task of that id.
func TestANoteOfTheSubmissionBefore(t *testing.T) {
	b := newDriver(t)
	b.step(CaughtUp{})
	b.step(Members{List: []Member{idle(200, 10)}})
	b.sealAt(2, at(0, 0))
	p := Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Second, Retention: time.Minute}
	push, _ := find[Assign](b.step(Submitted{ID: "x", Revision: 1, Stored: at(0, 0), Policy: &p}))
	b.accept([]Effect{push})
	note, ok := find[WriteNote](b.step(Done{
		Session: 200, ID: "x", Attempt: push.List[0].Attempt,
		Result: Result{Verb: Failed},
	}))
	if !ok {
		t.Fatal("nothing is noted")
	}
	b.step(Submitted{ID: "x", Revision: 20, Stored: at(0, 1), Policy: &p})
	b.step(Written{Write: note.Write, Outcome: record.Won, Revision: 21})
	effects := b.step(Noted{ID: "x", Revision: 21, Stored: at(0, 1), Retry: note.Retry})
	if len(handedOut(effects)) == 0 {
		effects = b.pass(2 * time.Second)
	}
	push, ok = find[Assign](effects)
	if !ok {
		t.Fatalf("not handed out: %+v", effects)
	}
	b.accept(effects)
	w, ok := find[WriteOutcome](b.step(Done{
		Session: 200, ID: "x", Attempt: push.List[0].Attempt,
		Result: Result{Verb: Succeeded},
	}))
	if !ok {
		t.Fatal("it does not end")
	}
	if e, erased := find[Erase](b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 30})); !erased ||
		e.What != NoteRecord {
		t.Errorf("%+v: its note stays", e)
	}
}

// TestManyOutcomesThatMayBeGone: nothing is known of many outcomes, and all may be gone. One more
// seal settles all that are refused, since it is not asked for before their answers are there. For
// an answer that does not come it waits for as long as a write takes.
func TestManyOutcomesThatMayBeGone(t *testing.T) {
	const n = 30
	for _, answered := range []int{n, n - 1} {
		b := newDriver(t)
		b.step(CaughtUp{})
		b.sealAt(2, at(0, 0))
		b.step(Members{List: []Member{idle(200, n)}})
		p := Policy{Kind: "k", MaxAttempts: 3, Retention: time.Hour}
		for i := range n {
			id := fmt.Sprint("x", i)
			push, ok := find[Assign](b.step(Submitted{ID: id, Revision: uint64(3 + i), Stored: at(0, 0), Policy: &p}))
			if !ok {
				t.Fatalf("%s is not handed out", id)
			}
			b.accept([]Effect{push}, id)
		}
		b.step(Written{Write: b.s.last, Outcome: record.Unknown})
		b.now = b.now.Add(58 * time.Minute)
		all := findAll[WriteOutcome](b.sealAt(90, at(0, 58)))
		if len(all) != n || !all[0].Again {
			t.Fatalf("%d outcomes are written again", len(all))
		}
		var effects []Effect
		for _, w := range all[:answered] {
			if _, early := find[WriteSeal](effects); early {
				t.Fatal("another seal is asked for before all answers are there")
			}
			effects = b.step(Written{Write: w.Write, Outcome: record.Refused})
		}
		_, sealed := find[WriteSeal](append(effects, b.pass(100*time.Millisecond)...)) // it takes its time
		if sealed != (answered == n) {
			t.Fatalf("%d answers: another seal is asked for: %t", answered, sealed)
		}
		if _, late := find[WriteSeal](b.pass(b.s.cfg.WriteTime)); late == sealed {
			t.Fatalf("%d answers, and the time of a write later: another seal is asked for: %t", answered, late)
		}
		if answered < n { // that seal may be what it is refused for
			b.step(Written{Write: all[answered].Write, Outcome: record.Refused})
		}
		if rest := findAll[WriteOutcome](b.sealAt(93, at(0, 59))); len(rest) != n-answered {
			t.Errorf("after another seal %d outcomes are written again, want %d", len(rest), n-answered)
		}
	}
}
