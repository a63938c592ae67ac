package scheduler

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// payload is the part of a submission that its handler gets.
type payload struct {
	data        []byte
	trace, meta string
}

func payloadOf(e *natskv.Entry) payload {
	return payload{e.Value, record.First(e.Header[record.HeaderTrace]), record.First(e.Header[record.HeaderMeta])}
}

func (x *payload) size() int { return len(x.data) + len(x.trace) + len(x.meta) + keptCost }

// payloads keeps the inputs of waiting tasks as far as there is room. Any other input stays in the
// stream, and is read when its task is handed out. So an open task costs little memory, however
// large its input is.
//
// Tasks are handed out in the order of their submissions, mostly. So where many inputs are read at
// once, those that follow them in the stream are read along: see stretch.
type payloads struct {
	kept   map[string]kept // by task
	bytes  int
	wanted *mailbox.Mailbox[want] // bounded by the frames that wait, one per worker, and by the drafts
	inputs *mailbox.Mailbox[want] // of frames, bounded like wanted

	ahead, before map[uint64]payload // by revision: the last two portions that were read along
	portion       uint64             // the number of the last one
	taken         uint64             // inputs that were taken from portions
}

type kept struct {
	revision uint64
	payload  payload
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
	seen     uint64 // the last portion that its frame has seen
	taken    uint64 // inputs that were taken from portions so far
}

// fetched is the record that was read, or why it was not.
type fetched struct {
	want
	entry natskv.Entry
	err   error
}

const (
	payloadRoom = 64 << 20 // bytes
	keptCost    = 256      // bytes that a payload takes beyond its own
	fetchers    = 4
)

func newPayloads() *payloads {
	return &payloads{kept: map[string]kept{}, wanted: mailbox.New[want](), inputs: mailbox.New[want]()}
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
		t := &stretch{nc: nc, stream: stream, got: got, one: p.fetch}
		defer t.end(0)
		var batch []want
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

func (p *payloads) keep(task string, revision uint64, x payload) {
	p.drop(task)
	if p.bytes+x.size() > payloadRoom {
		return
	}
	p.bytes += x.size()
	p.kept[task] = kept{revision, x}
}

// take gives a payload away. The input of a task that is handed out again is read again: that is
// rare.
func (p *payloads) take(task string, revision uint64) (payload, bool) {
	if x, ok := p.kept[task]; ok && x.revision == revision {
		p.drop(task)
		return x.payload, true
	}
	for _, portion := range []map[uint64]payload{p.ahead, p.before} {
		if x, ok := portion[revision]; ok {
			delete(portion, revision)
			p.taken++
			return x, true
		}
	}
	return payload{}, false
}

// drop removes the payload of a task that has ended or was submitted again.
func (p *payloads) drop(task string) {
	if x, ok := p.kept[task]; ok {
		delete(p.kept, task)
		p.bytes -= x.payload.size()
	}
}

func (p *payloads) fetch(w want) { p.wanted.Put(w) }

// fetchInput reads the input of a task that is about to be handed out, or its checkpoint.
func (p *payloads) fetchInput(revision uint64) {
	p.inputs.Put(want{revision: revision, seen: p.portion, taken: p.taken})
}

// found keeps the inputs among the records that were read along, until the second portion after
// this one. Those of tasks that have ended meanwhile are never taken.
func (p *payloads) found(r readAlong) {
	p.portion, p.before, p.ahead = r.portion, p.ahead, make(map[uint64]payload, len(r.entries))
	for i := range r.entries {
		if e := &r.entries[i]; !e.Marker && len(e.Header[record.HeaderOutcome]) == 0 {
			p.ahead[e.Revision] = payloadOf(e)
		}
	}
}

// readAlong is a portion of the stream that was read for the inputs in it that were wanted.
type readAlong struct {
	portion uint64
	entries []natskv.Entry // the others
}

const (
	portionMost  = 512
	portionBytes = 4 << 20
	// A portion is worth reading if one record in so many is wanted.
	worthwhile  = 16
	fewestInRow = 8               // inputs, close to each other, before a reading begins
	readingIdle = 5 * time.Second // the server is about to forget it then
	failedPause = time.Minute
)

// stretch reads inputs in portions of the stream, where those that are wanted are close to each
// other. It reads forward only. All else is read one by one.
type stretch struct {
	nc     *nats.Conn
	stream *natskv.Stream
	got    func(message any)
	one    func(want)

	reading *natskv.Reading // nil for none
	at      uint64          // the last revision that it has read
	used    time.Time       // when
	pause   time.Time       // until then no other one begins
	recent  []uint64        // revisions that were wanted last

	portion      uint64          // the number of the last one
	along, older map[uint64]bool // the revisions of the last two, without those that were wanted
	taken        uint64          // see want, when the last one was read
}

// read reads inputs that frames wait for. Some of them may be in a portion that their frame has not
// seen yet: it finds them there.
func (t *stretch) read(ctx context.Context, batch []want) {
	var list []want
	for _, w := range batch {
		if w.seen < t.portion && t.along[w.revision] || w.seen+1 < t.portion && t.older[w.revision] {
			continue
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b want) int { return cmp.Compare(a.revision, b.revision) })
	for _, w := range list {
		t.recent = append(t.recent, w.revision)
	}
	t.recent = t.recent[max(len(t.recent)-fewestInRow, 0):]
	if t.reading != nil && time.Since(t.used) > readingIdle {
		t.end(0)
	}
	for t.reading != nil && len(list) > 0 && list[0].revision <= t.at {
		t.one(list[0])
		list = list[1:]
	}
	for portions := 2 + len(list)/portionMost; portions > 0 && t.ready(ctx, list); portions-- {
		within, cancel := context.WithTimeout(ctx, record.ReadWithin)
		entries, err := t.reading.Next(within, portionMost, portionBytes)
		cancel()
		if err != nil {
			t.end(failedPause)
			break
		}
		if len(entries) == 0 {
			break
		}
		list = t.take(list, entries)
	}
	for _, w := range list {
		t.one(w)
	}
}

// ready reports whether there is a reading that comes to what is wanted, and is worthwhile. One
// begins where the last inputs were close to each other.
func (t *stretch) ready(ctx context.Context, list []want) bool {
	if len(list) == 0 {
		return false
	}
	first := list[0].revision
	if t.reading != nil {
		// Frames that have not seen the last portion say nothing about it.
		wasted := list[0].seen == t.portion && len(t.along) > portionMost/2 &&
			list[0].taken-t.taken < uint64(len(t.along)/worthwhile)
		if !wasted && first <= t.at+portionMost*worthwhile {
			return true
		}
		t.end(0)
	}
	began := time.Now()
	if span := slices.Max(t.recent) - slices.Min(t.recent); len(t.recent) < fewestInRow ||
		span > fewestInRow*worthwhile || began.Before(t.pause) {
		return false
	}
	within, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	r, err := t.stream.Read(within, t.nc, record.QueueKey+">", first)
	if err != nil {
		t.end(failedPause)
		return false
	}
	t.reading, t.at, t.used, t.along = r, first-1, began, nil
	t.pause = time.Now().Add(max(time.Second, worthwhile*time.Since(began))) // for the server's sake
	return true
}

// take gives the loop what is wanted of a portion, and then the rest of it. It returns what is
// wanted of later ones. A wanted record that is not in its place is read by itself.
func (t *stretch) take(list []want, entries []natskv.Entry) (later []want) {
	t.portion, t.used, t.taken = t.portion+1, time.Now(), list[0].taken
	t.older, t.along = t.along, make(map[uint64]bool, len(entries))
	r := readAlong{portion: t.portion}
	for _, e := range entries {
		t.at = e.Revision
		for len(list) > 0 && list[0].revision < e.Revision {
			t.one(list[0])
			list = list[1:]
		}
		if len(list) == 0 || list[0].revision != e.Revision {
			t.along[e.Revision] = true
			r.entries = append(r.entries, e)
			continue
		}
		for len(list) > 0 && list[0].revision == e.Revision {
			t.got(fetched{list[0], e, nil})
			list = list[1:]
		}
	}
	t.got(r)
	return list
}

// end ends the reading, if there is one. No other one begins for a while.
func (t *stretch) end(pause time.Duration) {
	if t.reading != nil {
		t.reading.Close()
		t.reading = nil
	}
	if until := time.Now().Add(pause); until.After(t.pause) {
		t.pause = until
	}
}
