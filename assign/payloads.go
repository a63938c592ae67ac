package assign

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// payload is what a handler gets of a submission.
type payload struct {
	data  []byte
	trace string
}

// payloads keeps the inputs of tasks that wait, as far as there is room. The rest stays in the stream and is read when it is
// handed out: so an open task costs little memory, however large its input is.
type payloads struct {
	kept   map[uint64]payload // by revision
	bytes  int
	wanted *mailbox.Mailbox[uint64] // bounded by the frames that wait, one per worker
}

// fetched is what was read.
type fetched struct {
	revision uint64
	payload  payload
	err      error
}

const (
	payloadRoom = 64 << 20 // bytes
	fetchers    = 4
)

// newPayloads starts goroutines that read until ctx ends; got must not block.
func newPayloads(ctx context.Context, nc *nats.Conn, stream *natskv.Stream, wg *sync.WaitGroup, got func(fetched)) *payloads {
	p := &payloads{kept: map[uint64]payload{}, wanted: mailbox.New[uint64]()}
	work := make(chan uint64)
	wg.Go(func() {
		defer close(work)
		var batch []uint64
		for {
			select {
			case <-p.wanted.Ready():
			case <-ctx.Done():
				return
			}
			batch = p.wanted.Drain(batch)
			for _, revision := range batch {
				select {
				case work <- revision:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range fetchers {
		wg.Go(func() {
			for revision := range work {
				within, cancel := context.WithTimeout(ctx, readWithin)
				e, err := stream.GetRevision(within, nc, revision)
				cancel()
				got(fetched{revision, payload{e.Value, first(e.Header[headerTrace])}, err})
			}
		})
	}
	return p
}

func (p *payloads) keep(revision uint64, x payload) {
	if p.bytes+len(x.data)+256 > payloadRoom {
		return
	}
	p.bytes += len(x.data) + 256
	p.kept[revision] = x
}

// take gives a payload away. A task that is handed out again is read again: that is rare.
func (p *payloads) take(revision uint64) (payload, bool) {
	x, ok := p.kept[revision]
	if ok {
		delete(p.kept, revision)
		p.bytes -= len(x.data) + 256
	}
	return x, ok
}

func (p *payloads) fetch(revision uint64) { p.wanted.Put(revision) }
