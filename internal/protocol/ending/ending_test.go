package ending

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const key = "c.lease.a"

func lease(nonce string, state record.LeaseState, session uint64) record.Lease {
	return record.Lease{V: record.Version, Session: session, Nonce: nonce, TTLms: 2000, Beat: 3, State: state}
}

func beat(t *testing.T, b *Book, nonce string, state record.LeaseState, revision uint64) {
	t.Helper()
	for _, r := range []uint64{0, revision} {
		w, ok := Said(key, record.Encode(lease(nonce, state, 0)), false, r)
		if !ok {
			t.Fatalf("a beat at revision %d says nothing", r)
		}
		if err := b.Hear(w); err != nil {
			t.Fatal(err)
		}
	}
}

func about(t *testing.T, b *Book, nonce string) {
	t.Helper()
	if err := b.Hear(Word{Key: key, Nonce: nonce}); err != nil {
		t.Fatal(err)
	}
}

func there(l record.Lease, revision uint64, marker bool) *record.Entry {
	e := record.Decode(key, record.Encode(l), revision, marker, time.Hour)
	return &e
}

// TestTheLeaseOfTheDeadIsKilled, not closed, on the condition that it still is there, and with what
// others know of its session.
func TestTheLeaseOfTheDeadIsKilled(t *testing.T) {
	for _, state := range []record.LeaseState{record.Live, record.Idle} {
		var b Book
		beat(t, &b, "n", state, 7)
		beat(t, &b, "n", state, 9)
		list := b.Ended()
		if len(list) != 1 || list[0].Next() != Write || list[0].Key() != key {
			t.Fatalf("%+v", list)
		}
		value, expect, ttl := list[0].Kill(time.Minute)
		e := record.Decode(key, value, 10, true, time.Hour)
		want := record.Lease{
			V: record.Version, Session: 9, Nonce: "n", Beat: 3, State: record.Killed, By: By, AtRest: state == record.Idle,
		}
		if e.Lease != want || expect != 9 || ttl <= 2*time.Minute {
			t.Errorf("%s: %+v at %d for %v", state, e.Lease, expect, ttl)
		}
		list[0].Written(record.Won)
		if list[0].Next() != Over || !list[0].Killed() {
			t.Error("it is not over")
		}
		if again := b.Ended(); len(again) > 0 {
			t.Errorf("it has ended twice: %+v", again)
		}
	}
}

// TestOnlyWhatTheDeadHasNamedIsKilled: what is there now may be another process's, or nobody's.
func TestOnlyWhatTheDeadHasNamedIsKilled(t *testing.T) {
	killed := func(by string) *record.Entry {
		return there(record.Lease{V: 1, Nonce: "n", State: record.Killed, By: by}, 8, true)
	}
	other := func(form record.Form) *record.Entry {
		return &record.Entry{Kind: record.KindLease, Form: form, Revision: 8}
	}
	for _, tt := range []struct {
		name   string
		there  *record.Entry
		next   Step
		killed bool
		dead   bool
	}{
		{"a later beat", there(lease("n", record.Live, 7), 8, false), Write, false, false},
		{"the next incarnation", there(lease("m", record.Live, 0), 8, false), Write, false, false},
		{"another process", there(lease("x", record.Live, 0), 8, false), Over, false, false},
		{"closed", there(lease("n", record.Closed, 7), 8, true), Over, false, true},
		{"killed by a candidate", killed("b"), Over, false, true},
		{"killed by us", killed(By), Over, true, false},
		{"a marker", other(record.FormMarker), Over, false, false},
		{"garbage", other(record.FormGarbage), Over, false, false},
		{"of a later version", other(record.FormNewer), Over, false, false},
		{"nothing", nil, Over, false, false},
	} {
		var b Book
		beat(t, &b, "n", record.Live, 7)
		about(t, &b, "m")
		e := b.Ended()[0]
		e.Written(record.Refused)
		if e.Next() != Read {
			t.Fatalf("%s: refused, and next is %d", tt.name, e.Next())
		}
		if tt.there == nil {
			e.Missing()
		} else {
			e.Found(tt.there)
		}
		if e.Next() != tt.next || e.Killed() != tt.killed || e.Dead() != tt.dead {
			t.Errorf("%s: next is %d, killed %v, dead %v", tt.name, e.Next(), e.Killed(), e.Dead())
		}
		if _, expect, _ := e.Kill(time.Minute); tt.next == Write && expect != 8 {
			t.Errorf("%s: on the condition of revision %d", tt.name, expect)
		}
	}
}

// TestAnIncarnationThatWasAboutToOpen has told no revision, so it is looked for.
func TestAnIncarnationThatWasAboutToOpen(t *testing.T) {
	var b Book
	about(t, &b, "n")
	e := b.Ended()[0]
	if e.Next() != Read {
		t.Fatalf("next is %d", e.Next())
	}
	e.Found(there(lease("n", record.Live, 0), 5, false))
	if e.Next() != Write {
		t.Errorf("next is %d", e.Next())
	}
}

// TestAnIncarnationIsReplaced when the next one is acknowledged, and not before.
func TestAnIncarnationIsReplaced(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		var b Book
		beat(t, &b, "n", record.Live, 7)
		about(t, &b, "m")
		if acknowledged {
			beat(t, &b, "m", record.Live, 9)
		}
		e := b.Ended()[0]
		e.Written(record.Unknown)
		e.Found(there(lease("n", record.Live, 0), 7, false))
		if known := e.Next() == Write; known == acknowledged {
			t.Errorf("acknowledged %v: the one before it is known: %v", acknowledged, known)
		}
	}
}

func TestAClosedLeaseIsLeftAlone(t *testing.T) {
	var b Book
	beat(t, &b, "n", record.Live, 7)
	for _, revision := range []uint64{0, 9} { // a word of its own tells of that
		w, ok := Said(key, record.Encode(record.Lease{V: 1, Nonce: "n", State: record.Closed}), true, revision)
		if ok {
			t.Errorf("its end says %+v, as a beat does", w)
		}
	}
	if err := b.Hear(Word{Key: key, Nonce: "n", Closed: true}); err != nil {
		t.Fatal(err)
	}
	if list := b.Ended(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestTheTTLDecidesAfterRefusals(t *testing.T) {
	var b Book
	beat(t, &b, "n", record.Live, 7)
	e, writes := b.Ended()[0], 0
	for at := uint64(8); e.Next() != Over && at < 100; at++ {
		if e.Next() == Write {
			writes++
			e.Written(record.Refused)
			continue
		}
		e.Found(there(lease("n", record.Live, 7), at, false))
	}
	if writes != MostRefusals || e.Killed() {
		t.Errorf("%d writes, killed %v", writes, e.Killed())
	}
}

func TestABookIsBounded(t *testing.T) {
	var b Book
	for _, w := range []Word{
		{Nonce: "n"},
		{Key: "c.role.a", Nonce: "n"},
		{Key: key},
		{Key: key, Nonce: "n", Revision: 3, Lease: lease("m", record.Live, 0)},
	} {
		if err := b.Hear(w); !errors.Is(err, ErrWord) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	beat(t, &b, "n", record.Live, 7)
	for i := range 2 * MostLeases { // those that are closed take no place
		other := fmt.Sprint("c.lease.closed-", i)
		for _, w := range []Word{{Key: other, Nonce: "n"}, {Key: other, Nonce: "n", Closed: true}} {
			if err := b.Hear(w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(b.leases) != 1 {
		t.Errorf("%d leases, and one is open", len(b.leases))
	}
	for i := range 3 * MostLeases { // of those that have fallen silent the oldest go
		if err := b.Hear(Word{Key: fmt.Sprint("c.lease.", i), Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
		beat(t, &b, "n", record.Live, uint64(8+i))
	}
	if _, speaks := b.leases[key]; !speaks || len(b.leases) != MostLeases {
		t.Errorf("%d leases; the one that speaks is known: %v", len(b.leases), speaks)
	}
	for i := range 10 * MostNonces {
		if err := b.Hear(Word{Key: "c.lease.191", Nonce: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	i := slices.IndexFunc(b.Ended(), func(e *Ending) bool { return len(e.nonces) > MostNonces })
	if i >= 0 {
		t.Error("it keeps every nonce")
	}
}
