package natskv

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func newStream(t *testing.T, nc *nats.Conn) *Stream {
	t.Helper()
	s, err := Reach{}.CreateStream(t.Context(), nc, "s.", jetstream.StreamConfig{
		Name: "S", Subjects: []string{"s.>"}, MaxMsgsPerSubject: 1, AllowMsgTTL: true, AllowAtomicPublish: true,
	}, func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newStreamWriter is a stream of its own, and who writes to it until the test ends.
func newStreamWriter(t *testing.T) (*nats.Conn, *Stream, *Writer) {
	t.Helper()
	_, nc, _ := newBucket(t)
	s := newStream(t, nc)
	w, err := NewWriter(nc, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return nc, s, w
}

func TestBatchIsStoredWholeOrNotAtAll(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	seal := mustWin(t, w, Write{Key: "seal"})
	submit := func(revision uint64, n int) Result {
		ops := make([]Write, n)
		for i := range ops {
			ops[i] = Write{
				Key: fmt.Sprint("k.", revision, ".", i), Value: []byte("v"), TTL: time.Minute,
				Header: []Field{{"H", "x"}},
			}
		}
		got := make(chan Result, 1)
		w.SubmitBatch(Guard{Key: "seal", Revision: revision}, ops, 10*time.Second, func(r Result) { got <- r })
		return <-got
	}
	for _, n := range []int{1, 2, 500, MaxBatch} {
		if r := submit(seal, n); r.Outcome != Won || r.Revision == 0 {
			t.Fatalf("%d writes: %+v", n, r)
		}
		last := fmt.Sprint("k.", seal, ".", n-1)
		e, err := s.Get(t.Context(), nc, last)
		if err != nil || string(e.Value) != "v" || e.Header.Get("H") != "x" || e.Key != last {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if r := submit(seal, MaxBatch+1); r.Outcome != Unknown || r.Err == nil {
		t.Errorf("too many: %+v", r)
	}
	next := mustWin(t, w, Write{Key: "seal", Expect: seal})
	for _, n := range []int{1, 10} {
		if r := submit(seal, n); r.Outcome != Refused {
			t.Errorf("%d writes under a past guard: %+v", n, r)
		}
	}
	if _, err := s.Get(t.Context(), nc, fmt.Sprint("k.", next, ".0")); !errors.Is(err, ErrRecordNotFound) {
		t.Errorf("a record that was never written: %v", err)
	}
	if e, err := s.GetRevision(t.Context(), nc, next); err != nil || e.Key != "seal" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestStreamIsWatchedFromARevision(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	mustWin(t, w, Write{Key: "a"})
	second := mustWin(t, w, Write{Key: "b"})
	watch, err := s.Watch(t.Context(), nc, "", second)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if u := <-watch.C(); len(u.Entries) != 1 || u.Entries[0].Key != "b" || !u.Snapshot || u.Entries[0].Time.IsZero() {
		t.Errorf("%+v", u)
	}
}

func TestPlainAcknowledgements(t *testing.T) {
	at := place{stream: "S"}
	for _, tt := range []struct {
		text string
		want Outcome
	}{
		{`{"stream":"S", "seq":12}`, Won},
		{`{"stream":"S", "seq":12,"batch":"x","count":3}`, Won},
		{`{"stream":"S","seq":12}`, Won},
		{`{"stream":"Sx", "seq":12}`, Unknown},
		{`{"stream":"S", "seq":0}`, Unknown},
		{`{"stream":"S", "seq":-1}`, Unknown},
		{`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},"stream":"S","seq":0}`, Refused},
		{`{"stream":"S", "seq":`, Unknown},
		{``, Unknown},
	} {
		if r := outcome(at, []byte(tt.text)); r.Outcome != tt.want || r.Outcome == Won && r.Revision != 12 {
			t.Errorf("%s: %+v, want %v", tt.text, r, tt.want)
		}
	}
}
