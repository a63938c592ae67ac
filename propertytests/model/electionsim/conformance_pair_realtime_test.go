//go:build realtime

package electionsim

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// lateness is how late the server may be to remove what has expired: it looks in intervals, and the
// last look may be just over.
const (
	lateness  = 2 * time.Second
	markerTTL = 2*MaxTTL + time.Second // of the bucket, for the markers of what has expired
)

// errUncertain is that a program cannot be compared to its end: the server has not said what became
// of a step.
var errUncertain = errors.New("the server has not said it")

func uncertain(err error) error { return fmt.Errorf("%w: %w", errUncertain, err) }

// pair is the model and the real bucket, in step. One replica is in a bubble, several are in real
// time, where nothing expires.
type pair struct {
	nc       *nats.Conn
	name     string
	replicas int
	seen     map[string]int
	model    *store
	base     uint64 // the real revision of the model's first
	bucket   *natskv.Bucket
	kv       jetstream.KeyValue
	writer   *natskv.Writer
	watch    *natskv.Watch

	delivered int // commits of the model that the watch has delivered
	whole     bool
	expires   map[string]time.Time // records with a TTL
	goes      map[string]time.Time // markers of those that have expired
	writes    []natskv.Write       // former ones
	serial    uint64
	last      uint64 // the highest real revision
}

func (p *pair) create() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if p.bucket, err = natskv.Create(ctx, p.nc, natskv.Config{
		Bucket: p.name, MaxTTL: MaxTTL,
		Replicas: p.replicas,
	}); err != nil {
		return uncertain(err)
	}
	state, err := p.bucket.Inspect(ctx)
	if err != nil {
		return uncertain(err)
	}
	if state.FirstSeq <= p.last {
		return fmt.Errorf("a bucket that was recreated begins at revision %d, and %d was written before",
			state.FirstSeq, p.last)
	}
	p.model, p.base, p.delivered, p.whole = newStore(), state.FirstSeq, 0, false
	p.expires, p.goes = map[string]time.Time{}, map[string]time.Time{}
	js, err := jetstream.New(p.nc)
	if err != nil {
		return err
	}
	if p.kv, err = js.KeyValue(ctx, p.name); err != nil {
		return uncertain(err)
	}
	if p.writer, err = natskv.NewWriter(p.nc, p.bucket); err != nil {
		return err
	}
	if p.watch, err = p.bucket.Watch(ctx, p.nc, ""); err != nil {
		return uncertain(err)
	}
	return nil
}

func (p *pair) leave() {
	if p.watch != nil {
		p.watch.Close()
	}
	if p.writer != nil {
		p.writer.Close()
	}
	p.watch, p.writer = nil, nil
}

// real and ours translate revisions; 0 is nothing on both sides, and what belongs to a former
// bucket is nowhere in the model.
func (p *pair) real(revision uint64) uint64 {
	if revision == 0 {
		return 0
	}
	return revision - firstRevision + p.base
}

func (p *pair) ours(revision uint64) uint64 {
	if revision == 0 {
		return 0
	}
	return revision - p.base + firstRevision
}

// now is the model's time, which decides nothing.
func (p *pair) now() time.Duration { return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) }

// pass lets virtual time continue; the real one continues by itself.
func (p *pair) pass(d time.Duration) {
	if p.replicas == 1 {
		time.Sleep(d)
	}
}

// value is a record that differs from all others.
func (p *pair) value(key string, garbage bool) []byte {
	p.serial++
	kind, _, _ := record.ParseKey(key)
	switch {
	case garbage:
		return fmt.Appendf(nil, `{"v":%d`, p.serial)
	case kind == record.KindLease:
		return record.Encode(record.Lease{V: record.Version, Nonce: "n", TTLms: 1000, Beat: p.serial, State: record.Live})
	case kind == record.KindMember:
		return record.Encode(record.Member{V: record.Version, Session: p.serial})
	case kind == record.KindRole:
		return record.Encode(record.Role{V: record.Version, ID: "a", Session: p.serial, Token: "t", TTLms: 1000})
	}
	return nil
}

func (p *pair) take(s conformStep) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch s.do {
	case conditional:
		w := natskv.Write{Key: s.key, Value: p.value(s.key, s.garbage), Delete: s.delete, TTL: s.ttl}
		about := s.key
		if s.guard != "" {
			about = s.guard
		}
		expect := p.expected(s.expect, about)
		if w.Expect = expect; s.guard != "" {
			w.Expect, w.Guard = 0, &natskv.Guard{Key: s.guard, Revision: expect}
		}
		p.writes = append(p.writes, w)
		if err := p.write(w, map[bool]string{true: "guarded "}[s.guard != ""]); err != nil {
			return err
		}
	case replay: // a copy of a former write that arrives late
		if len(p.writes) > 0 {
			if err := p.write(p.writes[s.which%len(p.writes)], "replay "); err != nil {
				return err
			}
		}
	case kvPut:
		value := p.value(s.key, s.garbage)
		revision, err := p.kv.Put(ctx, s.key, value)
		if err != nil {
			return uncertain(err)
		}
		p.seen["kv put"]++
		if err := p.same(p.stored(s.key, value, false, 0), revision); err != nil {
			return err
		}
	case kvDelete, kvPurge:
		remove := p.kv.Delete
		what := "kv delete"
		if s.do == kvPurge {
			remove, what = p.kv.Purge, "kv purge"
		}
		if err := remove(ctx, s.key); err != nil {
			return uncertain(err)
		}
		p.seen[what]++
		p.stored(s.key, nil, true, 0)
	case pass:
		p.pass(s.wait)
	case snapshot:
		return p.snapshot(ctx, s.which)
	case recreate:
		p.leave()
		js, err := jetstream.New(p.nc)
		if err != nil {
			return err
		}
		if err := js.DeleteKeyValue(ctx, p.name); err != nil {
			return uncertain(err)
		}
		p.seen["recreated"]++
		p.pass(time.Second) // revisions begin at the time, and no real server does all this within a microsecond
		if err := p.create(); err != nil {
			return err
		}
	}
	return p.settle()
}

// expected is the real revision that a write about a key names.
func (p *pair) expected(e expectation, about string) uint64 {
	past := p.model.keys[about]
	switch e {
	case nothing:
		return 0
	case former:
		if len(past) > 1 {
			return p.real(past[len(past)-2].entry.Revision)
		}
	case unborn:
		return p.real(firstRevision+uint64(len(p.model.log))) + 3
	case another:
		if n := len(p.model.log); n > 0 {
			return p.real(p.model.log[n-1].entry.Revision)
		}
	}
	return p.real(p.model.last(about))
}

// write does a conditional write on both.
func (p *pair) write(w natskv.Write, what string) error {
	m := protocol.Write{Key: w.Key, Value: w.Value, Delete: w.Delete, Expect: p.ours(w.Expect), TTL: w.TTL}
	if w.Guard != nil {
		m.GuardKey, m.GuardRevision = w.Guard.Key, p.ours(w.Guard.Revision)
	}
	answered := make(chan natskv.Result, 1)
	p.writer.Submit(w, time.Minute, func(r natskv.Result) { answered <- r })
	r := <-answered
	on := w.Key
	if w.Guard != nil {
		on = w.Guard.Key
	}
	over := " over a record"
	if c := p.model.newest(on); c == nil {
		over = " over nothing"
	} else if c.marker {
		over = " over a marker"
	}
	c := p.model.write(p.now(), m)
	switch {
	case r.Outcome == natskv.Unknown:
		return uncertain(r.Err)
	case (c != nil) != (r.Outcome == natskv.Won):
		return fmt.Errorf("the model stores it: %t; the server: %v, %v", c != nil, r.Outcome, r.Err)
	case c == nil:
		p.seen[what+"refused"]++
		p.seen["refused"+over]++
		return nil
	}
	p.seen[what+"won"]++
	p.seen["won"+over]++
	if w.Delete {
		p.seen["deleted"]++
	}
	p.note(w.Key, w.Delete, w.TTL)
	return p.same(c, r.Revision)
}

// stored is an unconditional write, which the server has done.
func (p *pair) stored(key string, value []byte, marker bool, ttl time.Duration) *commit {
	p.note(key, marker, ttl)
	return p.model.put(p.now(), key, value, marker)
}

// note remembers when what was written last at a key expires.
func (p *pair) note(key string, marker bool, ttl time.Duration) {
	delete(p.expires, key)
	delete(p.goes, key)
	if ttl > 0 {
		at := time.Now().Add((ttl + time.Second - 1).Truncate(time.Second)) // the server counts whole seconds
		if marker {
			p.goes[key] = at // and leaves none of the server
		} else {
			p.expires[key] = at
		}
	}
}

func (p *pair) same(c *commit, revision uint64) error {
	p.last = max(p.last, revision)
	if want := p.real(c.entry.Revision); revision != want {
		return fmt.Errorf("the server stores it at %d, the model at %d", revision, want)
	}
	return nil
}

// settle lets the server come to rest, and compares what the watch has delivered with the model's
// log. It does not return while it is open whether something has expired.
func (p *pair) settle() error {
	if p.replicas > 1 {
		return p.catchUp()
	}
	for {
		synctest.Wait()
		if err := p.hear(); err != nil {
			return err
		}
		now, open := time.Now(), false
		for key, at := range p.expires {
			if now.After(at.Add(lateness)) {
				return fmt.Errorf("%s has not expired %v after its time", key, now.Sub(at))
			}
			open = open || !now.Before(at)
		}
		for key, at := range p.goes {
			if now.After(at.Add(lateness)) {
				p.seen["marker gone"]++
				p.model.newest(key).removed = true
				delete(p.goes, key)
			} else {
				open = open || !now.Before(at)
			}
		}
		if !open {
			if p.delivered < len(p.model.log) {
				return fmt.Errorf("the watch has not delivered %v", p.model.log[p.delivered])
			}
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (p *pair) hear() error {
	for {
		select {
		case u, ok := <-p.watch.C():
			if !ok {
				return uncertain(p.watch.Err())
			}
			if err := p.heardAll(u.Entries); err != nil {
				return err
			}
			synctest.Wait()
		default:
			return nil
		}
	}
}

func (p *pair) heardAll(entries []natskv.Entry) error {
	for i := range entries {
		if err := p.heard(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) heard(e *natskv.Entry) error {
	p.last = max(p.last, e.Revision)
	if p.delivered == len(p.model.log) { // nobody has written it: it has expired
		at, due := p.expires[e.Key]
		if !due || e.Time.Before(at) || !e.Marker {
			return fmt.Errorf("the watch delivers what nobody has written: %s at %d, %s, %v", e.Key, e.Revision, e.Value,
				e.Header)
		}
		p.seen["expired"]++
		p.stored(e.Key, nil, true, 0)
		p.goes[e.Key] = e.Time.Add(markerTTL)
	}
	c := p.model.log[p.delivered]
	p.delivered++
	return p.equal(c, e)
}

func (p *pair) equal(c *commit, e *natskv.Entry) error {
	got := record.Decode(e.Key, e.Value, p.ours(e.Revision), e.Marker, MaxTTL)
	if e.Key != c.key || e.Marker != c.marker || !reflect.DeepEqual(got, c.entry) {
		return fmt.Errorf("the server delivers %s at %d, %s, marker %t; the model has %v", e.Key, p.ours(e.Revision), e.Value,
			e.Marker, c)
	}
	return nil
}

// snapshot compares what a new watch begins with.
func (p *pair) snapshot(ctx context.Context, which int) error {
	p.seen["snapshot"]++
	filters := []string{record.AllFilter, record.CandidateFilter, "c.role.>", record.WorkerFilter("w")}
	filter := filters[which%len(filters)]
	match := regexp.MustCompile("^" + strings.NewReplacer(".", `\.`, "*", `[^.]+`, ">", ".+").Replace(filter) + "$")
	want := slices.DeleteFunc(p.model.snapshot(firstRevision+uint64(len(p.model.log))), func(c *commit) bool {
		return !match.MatchString(c.key)
	})
	err := p.shows(ctx, filter, want)
	// its server may lag
	for until := time.Now().Add(patience); err != nil && p.replicas > 1 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
		err = p.shows(ctx, filter, want)
	}
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", filter, err)
	}
	return p.settle()
}

func (p *pair) shows(ctx context.Context, filter string, want []*commit) error {
	w, err := p.bucket.Watch(ctx, p.nc, filter)
	if err != nil {
		return uncertain(err)
	}
	defer w.Close()
	var got []natskv.Entry
	for done := false; !done; {
		select {
		case u, ok := <-w.C():
			if !ok {
				return uncertain(w.Err())
			}
			got, done = append(got, u.Entries...), u.Snapshot
		case <-ctx.Done():
			return uncertain(ctx.Err())
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("the server shows %d entries, the model has %d: %v", len(got), len(want), want)
	}
	for i := range got {
		if err := p.equal(want[i], &got[i]); err != nil {
			return err
		}
	}
	return nil
}
