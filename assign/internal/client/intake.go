package client

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// intake is the way of submissions to the stream, and of the reservations and keys that go before
// some of them: each goes alone, or with those that came while a batch was under way, if that is
// faster. Package gather has that rule.
//
// Each submission has a condition of its own, and is stored once, whichever way it goes: a batch of
// which nothing is known is not sent again, and its submissions go alone, under the same
// conditions. Then at most one of the two is stored. A bundle has one condition: see bundle.
type intake struct {
	writer *natskv.Writer
	most   *atomic.Int64 // max_payload of the server
	ids    *ids
	began  time.Time
	clock  clock.Clock // counts the time asleep

	mu    sync.Mutex // never held across a call of the writer, or a done
	rule  gather.Gatherer
	queue []*arrival
	lots  int                  // halves of batches so far
	timer *time.Timer          // calls turn
	apart bool                 // there are no bundles
	past  map[string]struct{}  // blocks that have had their bundle, the latest
	again map[*bundle]struct{} // those that wait until they are sent again
	ended bool                 // the writer has
}

// maxPast bounds how many blocks are known to have had their bundle. A second one of the same block
// is refused, and its submissions go alone.
const maxPast = 256

// arrival is a submission on its way.
type arrival struct {
	ctx    context.Context // of its caller, who leaves with it
	op     natskv.Write
	named  bool // another one may have its id
	done   func(natskv.Result)
	ticket gather.Ticket
	lot    int  // the half of a batch that it is in, 0: none
	halved int  // how often its batch was halved
	goes   bool // it is taken out of the queue

	block  string // of its id; "" if it goes in no bundle
	member record.Member
}

func newIntake(w *natskv.Writer, most *atomic.Int64, x *ids) *intake {
	in := &intake{
		writer: w, most: most, ids: x, began: time.Now(), clock: clock.System(), again: map[*bundle]struct{}{},
		past: map[string]struct{}{},
	}
	in.timer = time.AfterFunc(time.Hour, in.turn)
	in.timer.Stop()
	return in
}

func (in *intake) now() protocolrecord.Instant {
	return protocolrecord.Instant(time.Since(in.began)) + 1
}

// submit has a submission stored. done is called once, and must not block.
func (in *intake) submit(ctx context.Context, op natskv.Write, named bool, done func(natskv.Result)) {
	a := &arrival{ctx: ctx, op: op, named: named, done: done}
	in.mu.Lock()
	var alone bool
	if a.ticket, alone = in.rule.Enter(in.now(), a.size()); alone {
		in.mu.Unlock()
		in.send(a)
		return
	}
	in.join(a)
	in.queue = append(in.queue, a)
	in.mu.Unlock()
	in.turn()
}

// join has a submission that comes go in the bundle of its block, if it can be in one.
func (in *intake) join(a *arrival) {
	if in.apart || a.named {
		return
	}
	a.block, a.member, _ = memberOf(&a.op)
	if _, past := in.past[a.block]; past {
		a.block = ""
	}
}

// found notes whether a submission found that its task was there.
func (in *intake) found(duplicate bool) {
	in.mu.Lock()
	in.rule.Ended(duplicate)
	in.mu.Unlock()
}

// Window is how many submissions of a caller that has many should be under way at once: as many as
// the largest batch holds while submissions gather, else fewer, since more gain nothing then.
func (c *Client) Window() int {
	if l := c.line.Load(); l != nil && l.intake.gathers() {
		return gather.Most
	}
	return window
}

const window = 256

func (in *intake) gathers() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.rule.Turned()
}

// turn sends what is to go now.
func (in *intake) turn() {
	in.mu.Lock()
	now := in.now()
	n, together := in.rule.Next(now, len(in.queue))
	list, asOne := in.take(n, together, func(bundles, rest, n int) bool {
		return in.rule.AsOne(now, bundles, rest, n)
	})
	switch {
	case len(list) == 0:
	case asOne, together && len(list) == 1:
		in.rule.One(now, len(list))
	case together:
		in.rule.Batch(now, len(list))
	default:
		in.leave(now, list)
	}
	if due := in.rule.Due(now, len(in.queue)); due >= 0 {
		in.timer.Reset(due)
	}
	in.mu.Unlock()
	switch {
	case asOne:
		in.sendBundle(newBundle(list))
	case together && len(list) > 0:
		in.sendTogether(list)
	default:
		for _, a := range list {
			in.send(a)
		}
	}
}

// take takes up to n submissions out of the queue, without those whose callers have left. asOne
// says that these are a bundle; else each is a record of its own. mayBe says whether so many
// bundles may go, one after the other, and a batch of the rest, in place of a batch of n.
func (in *intake) take(n int, together bool, mayBe func(bundles, rest, n int) bool) (list []*arrival, asOne bool) {
	if n == 0 {
		return nil, false
	}
	in.queue = slices.DeleteFunc(in.queue, func(a *arrival) bool { return a.ctx.Err() != nil })
	if !together {
		n = min(n, len(in.queue))
		list = slices.Clone(in.queue[:n])
		in.queue = slices.Delete(in.queue, 0, n)
		return list, false
	}
	list = in.batch(n)
	if b := in.bundle(n); len(b) > 0 {
		if bundles, rest := in.bundlesOf(list); mayBe(bundles, rest, len(list)) {
			list, asOne = b, len(b) > 1
		}
	}
	for _, a := range list {
		a.goes = true
	}
	if asOne {
		in.end(list[0].block)
	}
	in.queue = slices.DeleteFunc(in.queue, func(a *arrival) bool { return a.goes })
	for _, a := range list {
		a.goes = false // one half of a batch comes again
	}
	return list, asOne
}

// end takes note that a block has its bundle. Those of the block that are left go in none.
func (in *intake) end(block string) {
	in.ids.leave(block)
	if len(in.past) == maxPast {
		clear(in.past)
	}
	in.past[block] = struct{}{}
	for _, a := range in.queue {
		if a.block == block && !a.goes {
			a.block = ""
		}
	}
}

// bundlesOf is in how many bundles submissions would go, one of each block, and how many go in
// none.
func (in *intake) bundlesOf(list []*arrival) (n, rest int) {
	bytes, room := map[string]int{}, in.room()
	for _, a := range list {
		size := a.member.Size()
		if a.block == "" || bytes[a.block]+size > room {
			rest++
			continue
		}
		bytes[a.block] += size
	}
	return len(bytes), rest
}

// batch is the first submissions that go into one batch, up to n. It has one record for each id,
// and the halves of a former batch are batches of their own.
func (in *intake) batch(n int) (list []*arrival) {
	bytes, names := 0, map[string]bool{}
	for _, a := range in.queue {
		size := a.size()
		if len(list) == n {
			break
		}
		if len(list) > 0 && (bytes+size > gather.MostBytes || a.lot != list[0].lot) || names[a.op.Key] {
			continue
		}
		bytes += size
		if a.named {
			names[a.op.Key] = true
		}
		list = append(list, a)
	}
	return list
}

func (a *arrival) size() int {
	n := len(a.op.Value)
	for _, f := range a.op.Header {
		n += len(f.Value)
	}
	return n
}

// leave notes that submissions are about to be sent alone.
func (in *intake) leave(now protocolrecord.Instant, list []*arrival) {
	for _, a := range list {
		a.ticket = in.rule.Alone(now)
	}
}

func (in *intake) send(a *arrival) {
	in.writer.Submit(a.op, submitWithin, func(r natskv.Result) {
		in.mu.Lock()
		in.rule.Answered(in.now(), a.ticket)
		waits := len(in.queue) > 0
		in.mu.Unlock()
		a.done(r)
		if waits {
			in.turn()
		}
	})
}

func (in *intake) sendTogether(list []*arrival) {
	ops := make([]natskv.Write, len(list))
	for i, a := range list {
		ops[i] = a.op
	}
	in.writer.SubmitEach(ops, submitWithin, func(r natskv.Result) { in.answered(list, r) })
}

// answered handles the answer to a batch. If it was refused, one of its tasks was there before, and
// nobody knows which.
func (in *intake) answered(list []*arrival, r natskv.Result) {
	in.mu.Lock()
	now, fate := in.now(), stream.FateOf(&r)
	in.rule.BatchAnswered(now, fate, len(in.queue))
	var alone []*arrival
	switch {
	case fate == gather.Stored || fate == gather.Silent:
	case fate == gather.Refused && len(list) > 1 && list[0].halved < gather.Halvings:
		in.halve(list)
	default:
		alone = list
		in.leave(now, alone)
	}
	in.mu.Unlock()
	if fate == gather.Stored || fate == gather.Silent {
		last := r.Revision
		for i, a := range list {
			if fate == gather.Stored { // the server lets nothing between the records of a batch
				r.Revision = last - uint64(len(list)-1-i)
			}
			a.done(r)
		}
	}
	for _, a := range alone {
		in.send(a)
	}
	in.turn()
}

// halve has the halves of a batch go next, each by itself.
func (in *intake) halve(list []*arrival) {
	for i, a := range list {
		if i == 0 || i == len(list)/2 {
			in.lots++
		}
		a.lot = in.lots
		a.halved++
	}
	in.queue = append(list, in.queue...)
}

// close lets nothing wait any longer. The writer has ended.
func (in *intake) close() {
	in.timer.Stop()
	in.mu.Lock()
	in.ended = true
	rest := in.queue
	in.queue = nil
	for b := range in.again {
		b.timer.Stop()
		rest = append(rest, b.list...)
	}
	clear(in.again)
	in.mu.Unlock()
	for _, a := range rest {
		a.done(natskv.Result{Err: natskv.ErrClosed})
	}
}
