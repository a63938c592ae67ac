package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// RecordLog is what was stored, along a path without faults: as the stream republishes it for us,
// which shows also what is replaced in the same moment, and as watches of stream and bucket show
// it, which are right again after a restart of the server. Only what was stored and replaced while
// the server went down is missing.
type RecordLog struct {
	a    *Arena
	nc   *nats.Conn
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	last     uint64              // revision of the last lease
	tasks    map[string][]Record // the history of each task, by revision
	acked    map[string]time.Time
	requeued map[string]int // requeues that were asked for, by task
	groups   map[string]int // their sizes, by their completions
	waiting  map[string]waits
	promised map[string]string // what callers were told that became of a task: "cancelled", or its output
	over     map[over]time.Time
	bundles  map[string]bundleLast // the last records at b.<task> and at e.<task>, by their keys
	faults   []error
}

// over is a session that has ended for all others: killed, or closed by itself.
type over struct {
	instance string
	number   uint64
}

func newRecordLog(a *Arena, nc *nats.Conn) *RecordLog {
	c := &RecordLog{
		a: a, nc: nc, tasks: map[string][]Record{}, acked: map[string]time.Time{},
		requeued: map[string]int{}, promised: map[string]string{}, over: map[over]time.Time{},
		groups: map[string]int{}, waiting: map[string]waits{}, bundles: map[string]bundleLast{},
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	natstest.Republish(a.TB, nc, "TASKS_"+a.Name, "$KV.TASKS_"+a.Name+".>", c.stored(">"))
	if _, err := nc.Subscribe(c.stored(">"), c.republished); err != nil { // ends with the connection
		a.TB.Fatal(err)
	}
	for _, family := range []string{"q.>", "b.>", "e.>"} {
		watch := func(ctx context.Context) (*natskv.Watch, error) { return c.watchTasks(ctx, family) }
		c.wg.Go(func() { c.run(ctx, watch, c.task) })
	}
	c.wg.Go(func() { c.run(ctx, c.watchLeases, c.lease) })
	return c
}

// stored is where the stream republishes the record of a key.
func (c *RecordLog) stored(key string) string { return "stored." + c.a.Name + "." + key }

func (c *RecordLog) close() {
	c.stop()
	c.wg.Wait()
}

func (c *RecordLog) watchTasks(ctx context.Context, filter string) (*natskv.Watch, error) {
	s, err := natskv.Reach{}.OpenStream(ctx, c.nc, "$KV.TASKS_"+c.a.Name+".", "TASKS_"+c.a.Name,
		func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		return nil, err
	}
	return s.Watch(ctx, c.nc, filter, 0)
}

func (c *RecordLog) watchLeases(ctx context.Context) (*natskv.Watch, error) {
	b, err := natskv.Open(ctx, c.nc, c.a.Name)
	if err != nil {
		return nil, err
	}
	return b.Watch(ctx, c.nc, "*.lease.>")
}

// run follows one watch after the other: the server may be away for a while.
func (c *RecordLog) run(ctx context.Context, begin func(context.Context) (*natskv.Watch, error),
	take func(natskv.Entry),
) {
	for ctx.Err() == nil {
		c.follow(ctx, begin, take)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (c *RecordLog) follow(ctx context.Context, begin func(context.Context) (*natskv.Watch, error),
	take func(natskv.Entry),
) {
	within, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	w, err := begin(within)
	if err != nil {
		return
	}
	defer w.Close()
	for {
		select {
		case u, ok := <-w.C():
			if !ok {
				return
			}
			for _, e := range u.Entries {
				take(e)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (c *RecordLog) task(e natskv.Entry) {
	if !e.Marker {
		c.take(e.Key, e.Revision, e.Time, e.Header, e.Value)
	}
}

// republished takes a record. A marker says nothing about a task: it is a reservation.
func (c *RecordLog) republished(m *nats.Msg) {
	if m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != "" {
		return
	}
	key, of := strings.CutPrefix(m.Subject, c.stored(""))
	revision, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	stored, err2 := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	if err := errors.Join(err, err2); err != nil || !of {
		c.fault(fmt.Errorf("republished record at %s: %w: %v", m.Subject, err, m.Header))
		return
	}
	c.take(key, revision, stored, m.Header, m.Data)
}

func (c *RecordLog) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
}

// take puts a record into the history of its task, or of the tasks of a bundle.
func (c *RecordLog) take(key string, revision uint64, stored time.Time, h nats.Header, data []byte) {
	family, id := key[:min(2, len(key))], key[min(2, len(key)):]
	var of map[string]Record
	var err error
	switch family {
	case "q.":
		var r Record
		r, err = readRecord(revision, c.when(stored), h, data)
		of = map[string]Record{id: r}
	case "b.":
		of, err = bundled(revision, c.when(stored), id, h, data)
		c.stands(key, bundleLast{revision, len(data) == 0, slices.Collect(maps.Keys(of))})
	case "e.":
		c.stands(key, bundleLast{revision, len(data) == 0, nil})
	}
	if err != nil {
		c.fault(fmt.Errorf("record %s: %w", key, err))
		return
	}
	for id, r := range of {
		c.add(id, r)
	}
}

// add puts a record into the history of its task, unless it is there.
func (c *RecordLog) add(id string, r Record) {
	revision := r.Revision
	c.mu.Lock()
	defer c.mu.Unlock()
	history := c.tasks[id]
	i, known := slices.BinarySearchFunc(history, revision,
		func(r Record, revision uint64) int { return cmp.Compare(r.Revision, revision) })
	if known {
		return
	}
	c.tasks[id] = slices.Insert(slices.Clone(history), i, r) // a reader of the history keeps its copy
	if r.Outcome != nil {
		c.a.Tally.Add("stored/"+r.Outcome.Status, 1)
	}
}

func (c *RecordLog) lease(e natskv.Entry) {
	lease := record.Decode(e.Key, e.Value, e.Revision, e.Marker, time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Revision <= c.last { // a new watch begins with what stands there
		return
	}
	c.last = e.Revision
	if lease.Kind != record.KindLease || lease.Form != record.FormRecord || lease.Lease.Alive() {
		return
	}
	c.over[over{lease.Peer.Instance, lease.Lease.Session}] = c.when(e.Time)
}

// when is when a record was stored, as far as that can be known: by the time it was seen where the
// server's clock steps.
func (c *RecordLog) when(stored time.Time) time.Time {
	if c.a.stepping {
		return time.Now()
	}
	return stored
}

// Acked notes that Submit has returned for a task.
func (c *RecordLog) Acked(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked[id] = time.Now()
}

// Requeues notes that a requeue of a task is asked for, before it is.
func (c *RecordLog) Requeues(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requeued[id]++
}

// Promises notes what a caller was told of a task: its output, or that it is cancelled.
func (c *RecordLog) Promises(id, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promised[id] = what
}

// History is what was stored of a task.
func (c *RecordLog) History(id string) []Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Record(nil), c.tasks[id]...)
}

// Records are the histories of all tasks.
func (c *RecordLog) Records() map[string][]Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.tasks)
}

// Open are the tasks that have no outcome, of those submitted before a moment.
func (c *RecordLog) Open(before time.Time) (open []string) {
	for id, history := range c.Records() {
		if last := history[len(history)-1]; last.Outcome == nil && last.Stored.Before(before) {
			open = append(open, id)
		}
	}
	return open
}
