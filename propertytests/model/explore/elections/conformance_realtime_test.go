//go:build realtime

package elections

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestBucketConforms: the bucket of the search and one of the real server, given the same steps,
// say the same: which conditional writes are stored and where, copies of former ones too, and what
// a new watch shows.
func TestBucketConforms(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	seen, made := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 30, 60).Draw(t, "steps")
		made++
		if err := conforms(nc, fmt.Sprint("b", made), steps, seen); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(seen)
	for _, what := range []string{"write", "guarded write", "replay"} {
		for _, over := range []string{"nothing", "a marker", "a record"} {
			for _, outcome := range []string{"won", "refused"} {
				if what := what + " on " + over + " " + outcome; seen[what] == 0 {
					t.Errorf("never happened: %s", what)
				}
			}
		}
	}
	if seen["deleted"] == 0 || seen["wiped"] == 0 {
		t.Error("nothing was deleted, or wiped")
	}
}

type operation uint8

const (
	conditional operation = iota
	replay
	wipe
)

// parallelStep is one thing that is done to both.
type parallelStep struct {
	Do     operation
	Key    string
	Guard  string // "" for none: the expectation is then about the key itself
	Expect expectedRevision
	Delete bool
	Back   int // how many writes ago a copy was sent first
}

// expectedRevision says which revision a write expects.
type expectedRevision uint8

const (
	right expectedRevision = iota
	nothing
	former // or that of another key
	newest // of all keys
	unborn
)

var storeKeys = []string{"c.lease.=a", "c.lease.=b", "c.member.=a", "c.role.r0", "c.role.r1", "probe.=a"}

func drawStep(t *rapid.T) parallelStep {
	s := parallelStep{
		Do:  rapid.SampledFrom([]operation{conditional, conditional, conditional, replay, replay, wipe}).Draw(t, "do"),
		Key: rapid.SampledFrom(storeKeys).Draw(t, "key"),
		Expect: rapid.SampledFrom([]expectedRevision{right, right, right, right, nothing, former, newest, unborn}).Draw(t,
			"expect"),
		Delete: rapid.IntRange(0, 4).Draw(t, "delete") == 4,
		Back:   rapid.IntRange(0, 9).Draw(t, "back"),
	}
	if rapid.IntRange(0, 2).Draw(t, "guarded") == 2 {
		s.Guard = rapid.SampledFrom(storeKeys).Draw(t, "guard")
	}
	return s
}

// conforms runs a program on both.
func conforms(nc *nats.Conn, name string, steps []parallelStep, seen map[string]int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := &pairedBuckets{x: New(&Config{Members: 2, Roles: 2, MaxTTL: 60}), seen: seen}
	var err error
	if p.bucket, err = natskv.Create(ctx, nc, natskv.Config{Bucket: name, MaxTTL: time.Minute}); err != nil {
		return err
	}
	state, err := p.bucket.Inspect(ctx)
	if err != nil {
		return err
	}
	p.model = p.x.keepBucket(&storeState{last: state.FirstSeq - 1})
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	if p.kv, err = js.KeyValue(ctx, name); err != nil {
		return err
	}
	if p.writer, err = natskv.NewWriter(nc, p.bucket); err != nil {
		return err
	}
	defer p.writer.Close()
	for i, s := range steps {
		if err := p.take(ctx, s); err != nil {
			return fmt.Errorf("step %d, %+v: %w", i, s, err)
		}
	}
	if err := p.shows(ctx, nc); err != nil {
		return err
	}
	return js.DeleteKeyValue(ctx, name)
}

// pairedBuckets is the model and the real bucket, in step.
type pairedBuckets struct {
	x      *Model
	model  *storeState
	bucket *natskv.Bucket
	kv     jetstream.KeyValue
	writer *natskv.Writer
	writes []protocol.Write // former ones
	seen   map[string]int
}

func (p *pairedBuckets) take(ctx context.Context, s parallelStep) error {
	switch {
	case s.Do == wipe: // by hand, without a condition
		if err := p.kv.Delete(ctx, s.Key); err != nil {
			return err
		}
		p.model, _ = p.x.put(p.model, s.Key, p.x.decode(s.Key, "", true))
		p.seen["wiped"]++
		return nil
	case s.Do == replay && len(p.writes) > 0:
		return p.write(p.writes[max(len(p.writes)-1-s.Back, 0)], "replay")
	}
	w := protocol.Write{Key: s.Key, Value: p.value(s.Key), Delete: s.Delete}
	what := "write"
	if s.Guard == "" {
		w.Expect = p.expected(s.Expect, s.Key)
	} else {
		w.GuardKey, w.GuardRevision, what = s.Guard, p.expected(s.Expect, s.Guard), "guarded write"
	}
	p.writes = append(p.writes, w)
	return p.write(w, what)
}

// expected is the revision that a write on a key names.
func (p *pairedBuckets) expected(e expectedRevision, on string) uint64 {
	revision := p.model.revision(on)
	switch e {
	case nothing:
		return 0
	case former:
		return max(revision, 1) - 1
	case newest:
		return p.model.last
	case unborn:
		return p.model.last + 3
	}
	return revision
}

// value is a record that differs from all others.
func (p *pairedBuckets) value(key string) []byte {
	n := uint64(len(p.writes))
	switch kind, _, _ := record.ParseKey(key); kind {
	case record.KindLease:
		return record.Encode(record.Lease{V: record.Version, Nonce: "#1", TTLms: 1000, Beat: n, State: record.Live})
	case record.KindMember:
		return record.Encode(record.Member{V: record.Version, Session: n})
	case record.KindRole:
		return record.Encode(record.Role{V: record.Version, ID: "=a", Session: n, Token: "#1", TTLms: 1000})
	}
	return nil
}

// write does a conditional write on both.
func (p *pairedBuckets) write(w protocol.Write, what string) error {
	real, on := natskv.Write{Key: w.Key, Value: w.Value, Delete: w.Delete, Expect: w.Expect}, w.Key
	if w.GuardKey != "" {
		real.Guard, on = &natskv.Guard{Key: w.GuardKey, Revision: w.GuardRevision}, w.GuardKey
	}
	over := "nothing"
	if c := p.model.newest(on); c != nil {
		over = map[bool]string{false: "a record", true: "a marker"}[c.entry.Form == record.FormMarker]
	}
	answered := make(chan natskv.Result, 1)
	p.writer.Submit(real, time.Minute, func(r natskv.Result) { answered <- r })
	r := <-answered
	next, c := p.x.write(p.model, p.x.letter(w))
	switch {
	case c == nil && r.Outcome == natskv.Refused:
		p.seen[what+" on "+over+" refused"]++
	case c != nil && r.Outcome == natskv.Won && c.entry.Revision == r.Revision:
		p.seen[what+" on "+over+" won"]++
		if w.Delete {
			p.seen["deleted"]++
		}
	default:
		return fmt.Errorf("the model says %+v, the server %v at %d, %v", c, r.Outcome, r.Revision, r.Err)
	}
	p.model = next
	return nil
}

// shows compares what a new watch begins with.
func (p *pairedBuckets) shows(ctx context.Context, nc *nats.Conn) error {
	w, err := p.bucket.Watch(ctx, nc, "")
	if err != nil {
		return err
	}
	defer w.Close()
	found := 0
	for u := range w.C() {
		for i := range u.Entries {
			e := &u.Entries[i]
			got := record.Decode(e.Key, e.Value, e.Revision, e.Marker, time.Minute)
			if found >= len(p.model.standing) || e.Key != p.model.standing[found].key ||
				!reflect.DeepEqual(got, p.model.standing[found].entry) {
				return fmt.Errorf("the server shows %s at %d, %s, marker %t, as number %d of %+v", e.Key, e.Revision, e.Value,
					e.Marker, found, p.model.standing)
			}
			found++
		}
		if u.Snapshot {
			break
		}
	}
	if found != len(p.model.standing) {
		return fmt.Errorf("the server shows %d entries, the model has %d: %w", found, len(p.model.standing), w.Err())
	}
	return nil
}
