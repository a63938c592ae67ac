package elections

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// stretch is a Hold of seconds; until < 0 leaves it open.
func stretch(process string, epoch uint64, from, until int) *Hold {
	at := func(s int) time.Time { return time.Unix(1000+int64(s), 0) }
	h := &Hold{Role: "r", Process: process, Epoch: epoch, Session: epoch, From: at(from)}
	if until >= 0 {
		h.Until, h.Drained = at(until), at(until)
	}
	return h
}

// TestSweepFindsPlantedFaults: a checker that finds nothing is only worth something if it finds
// what is there.
func TestSweepFindsPlantedFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		holds []*Hold
		want  []string
	}{
		{"one after the other", []*Hold{stretch("a", 1, 0, 5), stretch("b", 2, 5, 9), stretch("a", 3, 10, -1)}, nil},
		{"in any order of writing down", []*Hold{stretch("b", 2, 5, 9), stretch("a", 1, 0, 5)}, nil},
		{"two at once", []*Hold{stretch("a", 1, 0, 5), stretch("b", 2, 4, 9)}, []string{"E1"}},
		{"two at once for a moment", []*Hold{
			{Role: "r", Process: "a", Epoch: 1, From: time.Unix(0, 0), Until: time.Unix(1, 1)},
			{Role: "r", Process: "b", Epoch: 2, From: time.Unix(1, 0), Until: time.Unix(2, 0)},
		}, []string{"E1"}},
		{
			"within a long one",
			[]*Hold{stretch("a", 1, 0, 20), stretch("b", 2, 4, 6), stretch("c", 3, 8, 9)},
			[]string{"E1", "E1"},
		},
		{"after one that never ended", []*Hold{stretch("a", 1, 0, -1), stretch("b", 2, 4, 6)}, []string{"E1"}},
		{"behind a short one that lies in a long one", []*Hold{
			stretch("a", 1, 0, 20), stretch("b", 2, 4, 6),
			stretch("c", 3, 30, 31),
		}, []string{"E1"}},
		{"the same process twice", []*Hold{stretch("a", 1, 0, 5), stretch("a", 2, 4, 6)}, []string{"E1"}},
		{"an epoch that goes back", []*Hold{stretch("a", 2, 0, 5), stretch("b", 1, 6, 7)}, []string{"E2"}},
		{"an epoch with two holders", []*Hold{stretch("a", 2, 0, 5), stretch("b", 2, 6, 7)}, []string{"E2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger(false)
			l.holds["r"] = c.holds
			expect(t, l.Sweep(), c.want)
		})
	}
}

// TestSamplesStretchBelief: IsLeader seen true after the work's context has ended counts as belief.
func TestSamplesStretchBelief(t *testing.T) {
	l, at := NewLedger(false), func(s int) time.Time { return time.Unix(int64(s), 0) }
	a := l.Promoted("a", "r", 1, 1, at(0), time.Time{})
	l.Ended(a, at(5), nil)
	l.drained(a, at(5))
	b := l.Promoted("b", "r", 2, 2, at(6), time.Time{})
	l.Believed("b", "r", 2, at(7), time.Time{})
	expect(t, l.Sweep(), nil)
	l.Believed("a", "r", 1, at(8), time.Time{})
	expect(t, l.Sweep(), []string{"E1"})
	l.Ended(b, at(9), nil)
	l.Believed("c", "r", 3, at(7), time.Time{})
	expect(t, l.Sweep(), []string{"E1", "E1"})
}

// TestRecordLogFindsPlantedFaults: a role given away while its work runs, and a key that is written
// without a pause.
func TestRecordLogFindsPlantedFaults(t *testing.T) {
	const held, vacant = `{"v":1,"id":"a","session":7,"token":"t","ttl_ms":1000}`, `{"v":1,"vacant":true,"by":"a","reason":"stepped down","ttl_ms":1000}`
	fresh := func() *RecordLog {
		return &RecordLog{
			a: &Arena{Ledger: NewLedger(false), Tally: NewTally()}, roles: roleRecords{},
			writes: map[string]int{}, bursts: map[string]burst{}, leases: map[string]sighting{},
		}
	}
	c := fresh()
	c.a.Ledger.Promoted("a", "r", 7, 10, time.Now(), time.Time{})
	c.take(stored("c.role.r", 10, 0, held), time.Hour)
	c.take(stored("c.role.r", 11, 10, vacant), time.Hour)
	expect(t, c.Violations(), []string{"E7"})

	c = fresh()
	h := c.a.Ledger.Promoted("a", "r", 7, 10, time.Now(), time.Time{})
	c.take(stored("c.role.r", 10, 0, held), time.Hour)
	c.a.Ledger.drained(h, time.Now())
	c.take(stored("c.role.r", 11, 10, vacant), time.Hour)
	expect(t, c.Violations(), nil)

	c = fresh()
	c.a.Ledger.Promoted("a", "r", 7, 10, time.Now(), time.Time{})
	c.take(stored("c.role.r", 10, 0, held), time.Hour)
	c.take(stored("c.role.r", 11, 10, strings.Replace(vacant, `"vacant"`, `"forced":true,"vacant"`, 1)), time.Hour)
	expect(t, c.Violations(), nil)

	c = fresh() // the watch has missed the eviction of a, whose work still runs, and the whole term of a successor
	c.a.Ledger.Promoted("a", "r", 7, 10, time.Now(), time.Time{})
	c.take(stored("c.role.r", 10, 0, held), time.Hour)
	c.take(stored("c.role.r", 13, 12, vacant), time.Hour)
	expect(t, c.Violations(), nil)

	c = fresh()
	for i := range hottest + 5 {
		c.take(stored("c.lease.a", uint64(i+1), uint64(i), "garbage"), time.Hour)
	}
	expect(t, c.Violations(), []string{"hot loop"})

	c = fresh()
	c.take(stored("c.lease.a", 1, 0, "noise"), time.Hour)
	c.take(natskv.Entry{Key: "c.lease.a", Revision: 2, Marker: true}, time.Hour)
	if expired := c.Expired(); len(expired) != 1 || expired[0].Key != "c.lease.a" || expired[0].Age < 0 ||
		expired[0].Age > time.Minute {
		t.Errorf("%v have expired, want c.lease.a", expired)
	}
}

func stored(key string, revision, replaces uint64, value string) natskv.Entry {
	return natskv.Entry{
		Key: key, Revision: revision, Value: []byte(value), Header: nats.Header{expectHeader: {fmt.Sprint(replaces)}},
	}
}

func expect(t *testing.T, got []error, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("found %d violations, want %d:\n%v", len(got), len(want), errors.Join(got...))
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i].Error(), w) {
			t.Errorf("violation %d: %v, want %s", i, got[i], w)
		}
	}
}
