package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// adopted is a scheduler that has adopted x from a worker of eight slots. The next loss could end
// x, and an earlier scheduler has noted that x was to run alone there.
func adopted(t *testing.T, beside ...Event) *driver {
	t.Helper()
	b := newDriver(t)
	b.revision = 20
	b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
	b.step(Noted{ID: "x", Revision: 3, Retry: Retry{
		Attempt: Attempt{90, 1}, Crashes: 2, Started: Attempt{91, 1}, Alone: true, Group: 8, Ran: time.Hour, Blame: 2,
	}})
	for _, ev := range beside {
		b.step(ev)
	}
	b.step(CaughtUp{})
	b.seal(19)
	b.step(Members{List: []Member{idle(50, 8)}})
	held := []Held{{"x", Attempt{91, 1}, 1}, {"later", Attempt{92, 1}, 2}}
	b.step(Synced{Session: 50, Held: held[:1+len(beside)]})
	if !b.s.Ready() {
		t.Fatal("not ready")
	}
	return b
}

// TestNothingComesBesideASuspectBeforeItsEndIsStored: until then the note says that it runs there
// alone. A later scheduler would take it for what the worker has died of.
func TestNothingComesBesideASuspectBeforeItsEndIsStored(t *testing.T) {
	for name, result := range map[string]Result{"ended": {Verb: Succeeded}, "runs again": {Verb: Failed}} {
		b := adopted(t)
		b.submit("new", Policy{}, nil)
		expect(t, name+", runs", handedOut(b.pass(0)))
		effects := b.step(Done{Session: 50, ID: "x", Attempt: Attempt{91, 1}, Result: result})
		expect(t, name+", not stored", handedOut(append(effects, b.pass(0)...)))
		var write uint64
		if w, ends := find[WriteOutcome](effects); ends {
			write = w.Write
		} else if w, again := find[WriteNote](effects); again {
			write = w.Write
		}
		effects = b.step(Written{Write: write, Outcome: record.Won, Revision: 21})
		expect(t, name+", stored", handedOut(append(effects, b.pass(0)...)), "new@w50")
	}
}

// TestNothingComesWhereASuspectNeverBegan before that is stored: a deposed scheduler has noted that
// x runs there alone, and the worker has refused it. Else a loss of the worker and of this
// scheduler, at that moment, would end x for what ran there instead.
func TestNothingComesWhereASuspectNeverBegan(t *testing.T) {
	for name, tt := range map[string]struct {
		clean, alone, cancelled bool
		early, late             []string
	}{
		"refused":                 {alone: true, late: []string{"x@w50"}},
		"the term ended in peace": {alone: true, clean: true, late: []string{"x@w50"}},
		"cancelled meanwhile":     {alone: true, cancelled: true, late: []string{"new@w50"}},
		"not alone":               {early: []string{"new@w50"}},
	} {
		b := newDriver(t)
		b.revision = 20
		b.step(SealSeen{Revision: 1, Epoch: 91, Clean: tt.clean})
		b.step(Submitted{ID: "x", Revision: 2, Policy: policy})
		b.step(Submitted{ID: "new", Revision: 3, Policy: policy})
		b.step(Noted{ID: "x", Revision: 4, Retry: Retry{
			Attempt: Attempt{90, 1}, Crashes: 2, Started: Attempt{91, 1}, Session: 50, Alone: tt.alone,
			Group: 8, Ran: time.Hour, Blame: 2,
		}})
		if tt.cancelled {
			b.step(CancelAsked{ID: "x", Revision: 5})
		}
		b.step(CaughtUp{})
		effects := append(b.seal(19), b.step(Members{List: []Member{idle(50, 8)}})...)
		effects = append(effects, b.step(Synced{Session: 50})...)
		if !b.s.Ready() {
			t.Fatal("not ready")
		}
		expect(t, name+", not stored", handedOut(append(effects, b.pass(0)...)), tt.early...)
		expect(t, name+", stored", handedOut(b.storeAll(effects)), tt.late...)
		n, noted := find[WriteNote](effects)
		if noted == tt.cancelled || !n.Retry.Started.IsZero() || noted && n.Retry.Crashes != 2 {
			t.Errorf("%s: noted %v %+v", name, noted, n.Retry)
		}
	}
}

// TestASuspectIsNotAloneBesideWhatCannotBeRead: that runs where an earlier scheduler has handed it
// out, which could read it.
func TestASuspectIsNotAloneBesideWhatCannotBeRead(t *testing.T) {
	b := adopted(t)
	if w, dead := find[WriteOutcome](b.step(Dead{Session: 50})); !dead || w.Outcome.Cause != CauseWorkerLost {
		t.Errorf("alone: %+v", w)
	}
	b = adopted(t, Opaque{ID: "later", Revision: 2})
	if w, dead := find[WriteOutcome](b.step(Dead{Session: 50})); dead {
		t.Errorf("beside another: %+v", w)
	}
}
