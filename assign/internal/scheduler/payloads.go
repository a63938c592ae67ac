package scheduler

import (
	"context"
	"errors"
	"sync"

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
type payloads struct {
	kept   map[string]kept // by task
	bytes  int
	wanted *mailbox.Mailbox[want] // bounded by the frames that wait, one per worker, and by the drafts
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
	return &payloads{kept: map[string]kept{}, wanted: mailbox.New[want]()}
}

// run starts goroutines that read until ctx ends; got must not block.
func (p *payloads) run(ctx context.Context, nc *nats.Conn, stream *natskv.Stream, wg *sync.WaitGroup,
	got func(fetched),
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
	x, ok := p.kept[task]
	if !ok || x.revision != revision {
		return payload{}, false
	}
	p.drop(task)
	return x.payload, true
}

// drop removes the payload of a task that has ended or was submitted again.
func (p *payloads) drop(task string) {
	if x, ok := p.kept[task]; ok {
		delete(p.kept, task)
		p.bytes -= x.payload.size()
	}
}

func (p *payloads) fetch(w want) { p.wanted.Put(w) }
