package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// leadAll plays a process that can claim a thousand roles at once, and returns how long it takes
// until it leads all.
func leadAll(t *testing.T, b *busy) time.Duration {
	t.Helper()
	const roles = 1000
	b.join(roles)
	began := b.now
	for b.m.leading < roles && b.harm == "" && b.now.Sub(began) < time.Minute {
		b.next()
	}
	if b.harm != "" || b.m.leading != roles {
		t.Fatalf("it leads %d roles: %s", b.m.leading, b.harm)
	}
	return b.now.Sub(began)
}

// TestClaimsGoTogether: on a store that syncs each write, as many claims as wait go together once
// it has shown how slow it is, and each time behind our own beat. A store that does not sync is
// faster with one by one, and gets them so.
func TestClaimsGoTogether(t *testing.T) {
	b := newBusy(188*time.Microsecond, 20*time.Microsecond)
	b.together, b.each = 8*time.Millisecond, 8*time.Microsecond
	if took := leadAll(t, b); took > 100*time.Millisecond || b.batches == 0 {
		t.Errorf("a store that syncs: led after %v, with %d writes of claims together", took, b.batches)
	}
	if b.beatless > 0 {
		t.Errorf("%d writes of claims together were not right behind a beat of ours", b.beatless)
	}
	b = newBusy(14*time.Microsecond, 14*time.Microsecond)
	b.together, b.each = 8*time.Millisecond, 8*time.Microsecond
	if took := leadAll(t, b); b.batches != 0 {
		t.Errorf("a store that does not: led after %v, with %d writes of claims together", took, b.batches)
	}
}

// TestClaimsTogetherThatDoNotPay: a store that takes longer for claims together than was assumed is
// asked once, and then gets them one by one.
func TestClaimsTogetherThatDoNotPay(t *testing.T) {
	b := newBusy(188*time.Microsecond, 20*time.Microsecond)
	b.together, b.each = 150*time.Millisecond, 188*time.Microsecond
	b.m.cfg.OpTimeout = time.Second
	if leadAll(t, b); b.batches != 1 {
		t.Errorf("%d writes of claims together", b.batches)
	}
}

// gathered is a machine with the claims of so many roles on their way together, beside one that
// went alone. It is made to believe that it has seen a slow store.
func gathered(t *testing.T, roles int) (m *Machine, e WriteTogether) {
	t.Helper()
	m = opened(&bucket{}, "a", at(0), 0)
	m.window.size, m.window.first, m.window.pace = 1, 1, time.Millisecond
	m.cfg.Together, m.cfg.TogetherCost = roles, 1
	for i := range roles + 1 {
		e = next(m.Step(at(time.Second), Join{RoleConfig{Name: fmt.Sprint("r", i)}}, nil))
	}
	if len(e.Writes) != roles {
		t.Fatalf("%d claims go together", len(e.Writes))
	}
	m.cfg.Together = 2
	return m, e
}

// next is the next claims that go together.
func next(out []Effect) (e WriteTogether) {
	for _, effect := range out {
		if together, ok := effect.(WriteTogether); ok {
			e = together
		}
	}
	return e
}

func singles(out []Effect) (keys map[string]Write) {
	keys = map[string]Write{}
	for _, effect := range out {
		if w, ok := effect.(Write); ok {
			keys[w.Key] = w
		}
	}
	return keys
}

// TestRefusedTogether: after a refusal half of the claims go together at once, with the same tokens
// and expectations, and none is taken for refused.
func TestRefusedTogether(t *testing.T) {
	m, e := gathered(t, 8)
	sent := map[string]string{}
	for _, w := range e.Writes {
		sent[w.Key] = string(w.Value)
	}
	out := m.Step(at(time.Second+time.Millisecond), WrittenTogether{ID: e.ID, Outcome: record.Refused}, nil)
	again := next(out)
	if len(again.Writes) != 4 {
		t.Fatalf("%d of 8 claims go together after the refusal: %v", len(again.Writes), out)
	}
	for _, w := range again.Writes {
		if sent[w.Key] != string(w.Value) || w.Expect != 0 {
			t.Errorf("%s was %s, and is %s over %d", w.Key, sent[w.Key], w.Value, w.Expect)
		}
	}
	if m.claims.len() != 9 {
		t.Errorf("%d claims are open, want all 9", m.claims.len())
	}
}

// TestUnknownTogether: without an answer each claim goes again after a while, alone, with the same
// token; and none is on its way together again.
func TestUnknownTogether(t *testing.T) {
	m, e := gathered(t, 4)
	m.window.size, m.window.first = 2, 2 // one place is taken: of two claims, one has to wait
	now := time.Second + m.cfg.OpTimeout
	out := m.Step(at(now), WrittenTogether{ID: e.ID, Outcome: record.Unknown}, nil)
	seen := map[string]Write{}
	for range 20 {
		for len(out) > 0 {
			if again := next(out); again.ID != 0 {
				t.Fatalf("%d claims go together again", len(again.Writes))
			}
			sent := singles(out)
			out = nil
			for key, w := range sent {
				seen[key] = w
				if key != record.LeaseKey(m.self.Peer) {
					out = m.Step(at(now), Written{ID: w.ID, Outcome: record.Unknown}, out)
				}
			}
		}
		m.together.cost = cost{} // as after a minute
		now += 10 * time.Millisecond
		out = m.Step(at(now), Tick{}, nil)
	}
	for _, w := range e.Writes {
		if string(seen[w.Key].Value) != string(w.Value) {
			t.Errorf("%s was %s, and alone it is %s", w.Key, w.Value, seen[w.Key].Value)
		}
	}
}

// TestWonTogether: a win begins no term; what the watch shows of each claim does, at its revision.
func TestWonTogether(t *testing.T) {
	m, e := gathered(t, 3)
	out := m.Step(at(time.Second+time.Millisecond), WrittenTogether{ID: e.ID, Outcome: record.Won, Revision: 5000}, nil)
	if m.leading != 0 {
		t.Fatalf("it leads %d roles by an answer: %v", m.leading, out)
	}
	for i, w := range e.Writes {
		entry := record.Decode(w.Key, w.Value, uint64(4900+7*i), false, m.cfg.MaxTTL)
		m.Step(at(time.Second+2*time.Millisecond), Delivered{&entry}, nil)
		if r := m.part(entry.Name); r.term == nil || r.term.epoch != entry.Revision {
			t.Errorf("%s is not led at epoch %d", entry.Name, entry.Revision)
		}
	}
}

// TestNothingTogether: a store that takes no such writes is not asked again.
func TestNothingTogether(t *testing.T) {
	m, e := gathered(t, 8)
	out := m.Step(at(time.Second+time.Millisecond), WrittenTogether{ID: e.ID, Outcome: record.Refused, Off: true}, nil)
	if again := next(out); again.ID != 0 || m.window.inflight != 1 {
		t.Errorf("%d claims go together again, %d alone", len(again.Writes), m.window.inflight)
	}
}
