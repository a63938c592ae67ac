package natskv

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestScanReadsPagesInOrder(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	if entries, more, err := s.Scan(t.Context(), nc, Scan{Filter: "q.>", Limit: 10}); err != nil || more ||
		len(entries) != 0 {
		t.Fatalf("an empty stream: %d, %v, %v", len(entries), more, err)
	}
	for i := range 25 {
		mustWin(t, w, Write{Key: fmt.Sprint("q.", i), Value: []byte("value"), Header: []Field{{"H", fmt.Sprint(i)}}})
		mustWin(t, w, Write{Key: fmt.Sprint("other.", i)})
	}
	for _, headersOnly := range []bool{false, true} {
		var seen []string
		from, pages := uint64(0), 0
		for more := true; more; pages++ {
			var entries []Entry
			var err error
			entries, more, err = s.Scan(t.Context(), nc, Scan{Filter: "q.>", From: from, Limit: 10, HeadersOnly: headersOnly})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Revision < from || (len(e.Value) == 0) != headersOnly || e.Key != "q."+e.Header.Get("H") || e.Time.IsZero() {
					t.Fatalf("%+v", e)
				}
				from = e.Revision + 1
				seen = append(seen, e.Header.Get("H"))
			}
		}
		if pages != 3 || len(seen) != 25 || seen[0] != "0" || seen[24] != "24" {
			t.Errorf("%d pages: %v", pages, seen)
		}
	}
	if _, _, err := s.Scan(t.Context(), nc, Scan{Filter: "q.>", Limit: maxScan + 1}); err == nil {
		t.Error("a scan without bounds")
	}
}

// TestReadInPortions: portions follow each other, and none has more bytes than it may.
func TestReadInPortions(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	const records, size = 100, 1000
	var from uint64
	for i := range records {
		r := mustWin(t, w, Write{Key: fmt.Sprint("q.", i), Value: make([]byte, size)})
		mustWin(t, w, Write{Key: fmt.Sprint("other.", i)})
		if i == 10 {
			from = r
		}
	}
	r, err := s.Read(t.Context(), nc, Scan{Filter: "q.>", From: from})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := 10
	for _, p := range []struct{ most, bytes, want int }{
		{30, 0, 30}, {30, 5 * (size + 200), 5}, {1, 0, 1}, {10, size / 2, 0}, {1000, 0, 54}, {10, 0, 0},
	} {
		entries, err := r.Next(t.Context(), p.most, p.bytes)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		for _, e := range entries {
			if e.Key != fmt.Sprint("q.", next) {
				t.Fatalf("%+v: %s, want q.%d", p, e.Key, next)
			}
			next++
		}
		if len(entries) != p.want {
			t.Fatalf("%+v: %d records", p, len(entries))
		}
	}
	if _, err := r.Next(t.Context(), maxScan+1, 0); err == nil {
		t.Error("a portion without bounds")
	}
	r.Close()
	natstest.Eventually(t, "the server has forgotten the reading", time.Minute, func() (bool, string) {
		entries, err := r.Next(t.Context(), 1, 0)
		return err != nil, fmt.Sprint(len(entries), " records")
	})
}

func TestAbsentNeedsAServerThatKnows(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	at := mustWin(t, w, Write{Key: "there"})
	for _, tt := range []struct {
		key   string
		after uint64
		want  bool
	}{{"there", at, false}, {"missing", at, true}, {"missing", at + 1, false}} {
		if got, err := s.Absent(t.Context(), nc, tt.key, tt.after); got != tt.want || err != nil {
			t.Errorf("%s after %d: %v, %v", tt.key, tt.after, got, err)
		}
	}
}

func TestBatchWithAConditionEach(t *testing.T) {
	_, _, w := newStreamWriter(t)
	conditionEach(t, w)
}

// On replicas the leader checks before it proposes, and the conditions must hold there too.
func TestBatchWithAConditionEachOnReplicas(t *testing.T) {
	t.Parallel()
	nc := natstest.Connect(t, natstest.Cluster(t))
	s, err := Reach{}.CreateStream(within(t), nc, "s.", jetstream.StreamConfig{
		Name: "S", Subjects: []string{"s.>"}, MaxMsgsPerSubject: 1, AllowMsgTTL: true, AllowAtomicPublish: true, Replicas: 3,
	}, func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(nc, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	conditionEach(t, w)
}

// conditionEach checks SubmitEach on a stream: all writes are stored or none, whichever condition
// does not hold.
func conditionEach(t *testing.T, w *Writer) {
	t.Helper()
	submit := func(ops ...Write) (r Result) {
		t.Helper()
		// nobody received it: nothing is stored
		natstest.Eventually(t, "the stream has a leader", time.Minute, func() (bool, string) {
			got := make(chan Result, 1)
			w.SubmitEach(ops, 10*time.Second, func(r Result) { got <- r })
			r = <-got
			return !errors.Is(r.Err, ErrNoLeader), fmt.Sprint(r)
		})
		return r
	}
	won := func(ops ...Write) uint64 {
		t.Helper()
		r := submit(ops...)
		if r.Outcome != Won || r.Revision == 0 {
			t.Fatalf("%+v", r)
		}
		return r.Revision
	}
	second := won(Write{Key: "u.a"}, Write{Key: "q.1"})
	for _, ops := range [][]Write{
		{{Key: "u.a"}, {Key: "q.2"}},                               // the first condition
		{{Key: "u.b"}, {Key: "q.1"}},                               // the second
		{{Key: "u.a", Expect: second - 1}, {Key: "q.1"}},           // the second, over a first that holds
		{{Key: "u.a", Expect: second - 2}, {Key: "q.2"}},           // a revision that is no longer the last
		{{Key: "u.b"}, {Key: "q.2", Guard: &Guard{"u.a", second}}}, // the guard of the second
	} {
		if r := submit(ops...); r.Outcome != Refused {
			t.Errorf("%+v: %+v", ops, r)
		}
	}
	// Nothing of the refused batches is stored: the same keys are still free.
	won(Write{Key: "u.b"}, Write{Key: "q.2"})
	won(Write{Key: "u.a", Expect: second - 1}, Write{Key: "q.3"}, Write{Key: "q.4", Guard: &Guard{"q.1", second}})
	won(Write{Key: "q.5"})
}
