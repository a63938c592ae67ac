package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/ahead"
)

// payload is the part of a submission that its handler gets.
type payload = ahead.Input

func payloadOf(e *natskv.Entry) payload {
	return payload{
		Data: e.Value, Trace: record.First(e.Header[record.HeaderTrace]), Meta: record.First(e.Header[record.HeaderMeta]),
	}
}

// payloads keeps the inputs of waiting tasks as far as there is room. Any other input stays in the
// stream, and is read when its task is handed out. So an open task costs little memory, however
// large its input is. 64 MiB have room for some 550,000 inputs of 16 bytes, and for 60,000 of 1 kB.
//
// Tasks are handed out in the order of their submissions, mostly. So where many inputs are read at
// once, those that follow them in the stream are read ahead: see stretch.
type payloads struct {
	room   ahead.Room
	shelf  ahead.Shelf[payload]
	wanted *mailbox.Mailbox[want]       // bounded by the frames that wait, one per worker, and by the drafts
	inputs *mailbox.Mailbox[ahead.Want] // of frames, bounded like wanted
}

// want is a record to be read. Task is set if a draft of that task waits for it, and draft is the
// number of the draft. If note is set, it is the task's note, else the record at revision. For a
// keep it is what stands in the task's place, as a server tells it that knows revision.
type want struct {
	revision uint64
	task     string
	draft    uint64
	note     bool
	keep     uint64 // number of the wish about the task's outcome that waits for its record, 0 for none
}

// fetched is the record that was read, or why it was not.
type fetched struct {
	want
	entry natskv.Entry
	err   error
}

const (
	payloadRoom = 64 << 20 // bytes
	fetchers    = 4
)

func newPayloads() *payloads {
	return &payloads{
		room: ahead.NewRoom(payloadRoom), wanted: mailbox.New[want](), inputs: mailbox.New[ahead.Want](),
	}
}

// run starts goroutines that read until ctx ends; got must not block.
func (p *payloads) run(ctx context.Context, nc *nats.Conn, stream *natskv.Stream, wg *sync.WaitGroup,
	got func(message any),
) {
	work := make(chan want)
	wg.Go(func() {
		defer close(work)
		var batch []want
		for {
			select {
			case <-p.wanted.Ready():
			case <-ctx.Done():
				return
			}
			batch = p.wanted.Drain(batch)
			for _, w := range batch {
				select {
				case work <- w:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range fetchers {
		wg.Go(func() {
			for w := range work {
				within, cancel := context.WithTimeout(ctx, record.ReadWithin)
				var e natskv.Entry
				var err error
				switch {
				case w.keep > 0:
					e, err = standing(within, nc, stream, w)
				case w.note:
					e, err = stream.Get(within, nc, record.NoteKey+w.task)
				default:
					e, err = stream.GetRevision(within, nc, w.revision)
				}
				cancel()
				got(fetched{w, e, err})
			}
		})
	}
	wg.Go(func() {
		t := &stretch{nc: nc, stream: stream, got: got, one: p.fetch, began: time.Now()}
		defer t.end(0)
		var batch []ahead.Want
		for {
			select {
			case <-p.inputs.Ready():
			case <-ctx.Done():
				return
			}
			batch = p.inputs.Drain(batch)
			t.read(ctx, batch)
		}
	})
}

// standing reads what stands in the place of a task. That nothing does is believed only of a server
// that knows a revision.
func standing(ctx context.Context, nc *nats.Conn, stream *natskv.Stream, w want) (natskv.Entry, error) {
	key := record.QueueKey + w.task
	e, err := stream.Get(ctx, nc, key)
	if !errors.Is(err, natskv.ErrRecordNotFound) {
		return e, err
	}
	if gone, lags := stream.Absent(ctx, nc, key, w.revision); lags != nil || !gone {
		return e, errors.Join(errLags, lags)
	}
	return e, err
}

var errLags = errors.New("a server lags behind the stream")

func (p *payloads) keep(task string, revision uint64, x payload) { p.room.Keep(task, revision, x) }

// take gives a payload away. The input of a task that is handed out again is read again: that is
// rare.
func (p *payloads) take(task string, revision uint64) (payload, bool) {
	if x, ok := p.room.Take(task, revision); ok {
		return x, true
	}
	x, ok := p.shelf.Take(revision)
	p.readOn()
	return x, ok
}

// drop removes the payload of a task that has ended or was submitted again.
func (p *payloads) drop(task string) { p.room.Drop(task) }

func (p *payloads) fetch(w want) { p.wanted.Put(w) }

// fetchInput reads the input of a task that is about to be handed out, or its checkpoint.
func (p *payloads) fetchInput(revision uint64) { p.inputs.Put(p.shelf.Want(revision)) }

// found keeps the inputs among the records that were read along. So many others were awaited.
func (p *payloads) found(r readAlong, awaited int) {
	inputs := make(map[uint64]payload, len(r.entries))
	for i := range r.entries {
		if e := &r.entries[i]; isInput(e) {
			inputs[e.Revision] = payloadOf(e)
		}
	}
	p.shelf.Put(r.portion, r.inputs, awaited, inputs)
	p.readOn()
}

// readOn has the next portion read when it is time.
func (p *payloads) readOn() {
	if w, ok := p.shelf.More(); ok {
		p.inputs.Put(w)
	}
}

// stretch reads inputs in portions of the stream, as package ahead decides, or has them read one by
// one.
type stretch struct {
	nc     *nats.Conn
	stream *natskv.Stream
	got    func(message any)
	one    func(want)
	began  time.Time // of its times

	rule    ahead.Reader
	reading *natskv.Reading // nil for none
}

// readAlong is a portion of the stream that was read.
type readAlong struct {
	portion uint64
	inputs  int            // in it, with those that were wanted
	entries []natskv.Entry // without those that were wanted
}

// isInput reports whether a record is the input of a task that has not ended.
func isInput(e *natskv.Entry) bool { return !e.Marker && len(e.Header[record.HeaderOutcome]) == 0 }

const (
	portionBytes = 4 << 20
	failedPause  = time.Minute
)

func (t *stretch) now() protocolrecord.Instant {
	return protocolrecord.Instant(time.Since(t.began)) + 1
}

// read reads inputs that frames wait for, and portions ahead of them.
func (t *stretch) read(ctx context.Context, batch []ahead.Want) {
	behind, list, more := t.rule.Sort(t.now(), batch)
	t.alone(behind)
	for ctx.Err() == nil {
		switch t.rule.Next(t.now(), list, more) {
		case ahead.Done:
			return
		case ahead.Alone:
			t.alone(list)
			return
		case ahead.End:
			t.end(0)
		case ahead.Begin:
			t.begin(ctx, list[0].Revision)
		case ahead.Portion:
			entries := t.next(ctx)
			if len(entries) == 0 {
				t.alone(list)
				return
			}
			list = t.take(list, entries)
		}
		more = false
	}
}

func (t *stretch) alone(list []ahead.Want) {
	for _, w := range list {
		t.one(want{revision: w.Revision})
	}
}

func (t *stretch) begin(ctx context.Context, first uint64) {
	since := t.now()
	within, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	r, err := t.stream.Read(within, t.nc, natskv.Scan{Filter: record.QueueKey + ">", From: first})
	if err != nil {
		t.rule.Ended(t.now(), failedPause)
		return
	}
	t.reading = r
	t.rule.Began(since, t.now(), first)
}

// next reads a portion. It returns none at the end of the stream, and after a fault.
func (t *stretch) next(ctx context.Context) []natskv.Entry {
	within, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	entries, err := t.reading.Next(within, ahead.Most, portionBytes)
	if err != nil {
		t.end(failedPause)
	}
	return entries
}

// take gives the loop what is wanted of a portion, and then the rest of it. It returns what is
// wanted of later ones.
func (t *stretch) take(list []ahead.Want, entries []natskv.Entry) []ahead.Want {
	revisions := make([]uint64, len(entries))
	for i := range entries {
		revisions[i] = entries[i].Revision
	}
	missing, later := t.rule.Read(t.now(), revisions, list)
	t.alone(missing)
	r := readAlong{portion: t.rule.Number()}
	for _, e := range entries {
		if isInput(&e) {
			r.inputs++
		}
		if t.rule.Along(e.Revision) {
			r.entries = append(r.entries, e)
		} else {
			t.got(fetched{want: want{revision: e.Revision}, entry: e})
		}
	}
	t.got(r)
	return later
}

// end ends the reading, if there is one.
func (t *stretch) end(pause time.Duration) {
	if t.reading != nil {
		t.reading.Close()
		t.reading = nil
	}
	t.rule.Ended(t.now(), pause)
}
