package natskv

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// each submits writes in one batch and waits.
func each(tb testing.TB, w *Writer, ops []Write) Result {
	tb.Helper()
	done := make(chan Result, 1)
	w.SubmitEach(ops, 5*time.Second, func(r Result) { done <- r })
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		tb.Fatal("a batch was never answered")
		return Result{}
	}
}

func over(expect uint64, keys ...string) (ops []Write) {
	for _, key := range keys {
		ops = append(ops, Write{Key: key, Value: []byte("{}"), Expect: expect})
	}
	return ops
}

// TestABatchThatIsDenied: the result names the subject, whichever of its messages it is. An earlier
// complaint says nothing about a batch, and neither does one about another subject.
func TestABatchThatIsDenied(t *testing.T) {
	s := startServer(t, users{
		"owner": {},
		"user": {
			Publish: &server.SubjectPermission{Allow: []string{"$KV.b.>", "$JS.API.>"}, Deny: []string{"$KV.b.role.denied"}},
		},
	})
	b, err := Create(t.Context(), connect(t, fmt.Sprintf("nats://owner:x@127.0.0.1:%d", port(s))), Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	nc := connect(t, fmt.Sprintf("nats://user:x@127.0.0.1:%d", port(s)))
	w := newWriter(t, nc, b)
	for _, keys := range [][]string{
		{"role.denied", "role.a", "role.b"}, {"role.a", "role.denied", "role.b"}, {"role.a", "role.b", "role.denied"},
	} {
		d := (*PermissionError)(nil)
		r := each(t, w, over(0, keys...))
		if r.Outcome != Unknown || !errors.As(r.Err, &d) || d.Subject != "$KV.b.role.denied" {
			t.Errorf("%q: %+v, want the subject that is denied", keys, r)
		}
	}
	incomplete := Result{Err: fromAPI(b.place(), &jetstream.APIError{ErrorCode: codeBatchIncomplete}), NoneStored: true}
	p := &pending{ops: over(0, "role.a", "role.denied")}
	if r := w.denied(p, incomplete); !errors.Is(r.Err, nats.ErrPermissionViolation) || !r.NoneStored {
		t.Errorf("%+v, want a denial, and that nothing is stored", r)
	}
	if r := w.denied(p, Result{Outcome: Refused, Err: ErrRefused}); !errors.Is(r.Err, ErrRefused) {
		t.Errorf("a condition did not hold: %+v", r)
	}
	other := &pending{ops: over(0, "role.a", "role.b")}
	if r := w.denied(other, incomplete); errors.Is(r.Err, nats.ErrPermissionViolation) {
		t.Errorf("another subject is denied: %+v", r)
	}
	if p.known = nc.LastError(); errors.Is(w.denied(p, incomplete).Err, nats.ErrPermissionViolation) {
		t.Error("a complaint from before counts")
	}
}

// TestRefusedBatch: whatever the reason, a server that answers with an error has stored nothing of
// a batch, and the result says that.
func TestRefusedBatch(t *testing.T) {
	s := startServer(t, users{
		"owner": {},
		"user": {
			Publish: &server.SubjectPermission{Allow: []string{"$KV.b.>", "$JS.API.>"}, Deny: []string{"$KV.b.role.denied"}},
		},
	})
	owner := connect(t, fmt.Sprintf("nats://owner:x@127.0.0.1:%d", port(s)))
	b, err := Create(t.Context(), owner, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	nc := connect(t, fmt.Sprintf("nats://user:x@127.0.0.1:%d", port(s)))
	w := newWriter(t, nc, b)
	if r := each(t, w, over(0, "role.a", "role.b", "role.c")); r.Outcome != Won || r.NoneStored || r.Revision == 0 {
		t.Fatalf("%+v", r)
	}
	for name, c := range map[string]struct {
		ops     []Write
		outcome Outcome
	}{
		"a condition does not hold": {over(0, "role.d", "role.a", "role.e"), Refused},
		"a key is denied":           {over(0, "role.d", "role.denied", "role.e"), Unknown},
	} {
		if r := each(t, w, c.ops); r.Outcome != c.outcome || !r.NoneStored {
			t.Errorf("%s: %+v", name, r)
		}
	}
	setBatches(t, owner, false)
	if r := each(t, w, over(0, "role.d", "role.e")); !r.NoneStored || !BatchesOff(r.Err) {
		t.Errorf("the stream takes no batches: %+v", r)
	}
	setBatches(t, owner, true)
	if r := each(t, w, over(0, "role.d", "role.e")); r.Outcome != Won {
		t.Errorf("something was stored of a batch that was refused: %+v", r)
	}
}

func setBatches(tb testing.TB, nc *nats.Conn, allowed bool) {
	tb.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		tb.Fatal(err)
	}
	stream, err := js.Stream(tb.Context(), "KV_b")
	if err != nil {
		tb.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.AllowAtomicPublish = allowed
	if _, err := js.UpdateStream(tb.Context(), cfg); err != nil {
		tb.Fatal(err)
	}
}

// TestBatchAnswers: an answer that does not count the messages of the batch is not its
// acknowledgement, and one of a store that has failed does not say that nothing was stored.
func TestBatchAnswers(t *testing.T) {
	at := place{stream: "KV_b", bucket: "b"}
	for data, want := range map[string]Result{
		`{"stream":"KV_b","seq":7,"batch":"x","count":3}`:                                  {Outcome: Won, Revision: 7},
		`{"stream":"KV_b","seq":7}`:                                                        {},
		`{"stream":"KV_b","seq":7,"batch":"x","count":2}`:                                  {},
		`{"stream":"KV_b","seq":0,"error":{"code":400,"err_code":10071,"description":""}}`: {Outcome: Refused, NoneStored: true},
		`{"stream":"KV_b","seq":0,"error":{"code":400,"err_code":10164,"description":""}}`: {NoneStored: true},
		`{"stream":"KV_b","seq":0,"error":{"code":400,"err_code":10176,"description":""}}`: {NoneStored: true},
		`{"stream":"KV_b","seq":0,"error":{"code":429,"err_code":10210,"description":""}}`: {NoneStored: true},
		`{"stream":"KV_b","seq":0,"error":{"code":503,"err_code":10077,"description":""}}`: {},
		`{"stream":"KV_b","seq":0,"error":{"code":503,"err_code":10023,"description":""}}`: {},
	} {
		got := batchOutcome(at, []byte(data), 3)
		if got.Outcome != want.Outcome || got.NoneStored != want.NoneStored || got.Revision != want.Revision ||
			(got.Err == nil) != (want.Outcome == Won) {
			t.Errorf("%s: %+v", data, got)
		}
	}
}
