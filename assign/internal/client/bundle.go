package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// ids makes the ids of a client. It is safe for concurrent use.
type ids struct {
	mu    sync.Mutex
	maker bundles.Maker
}

// next is the next id, of a submission that takes so many bytes in a bundle, which has so much
// room.
func (x *ids) next(bytes, room int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.maker.ID(bytes, room)
}

func (x *ids) leave(block string) {
	x.mu.Lock()
	x.maker.Leave(block)
	x.mu.Unlock()
}

// takes bounds what a submission takes in a bundle, 0 if it goes in none. A text that JSON has to
// escape may take more, and so may what a codec adds.
func (c *Client) takes(s *Submission, data int) int {
	if data > record.MaxMember || s.Unique != "" {
		return 0
	}
	m := record.Member{Task: s.Header, Trace: s.Trace}
	n := m.Size() + data
	if s.Header == "" { // it is still to be encoded
		n += 256
	}
	if c.sealer != nil {
		n += 128
	}
	if s.Keys != (record.Keys{}) {
		n += 64 + len(s.Keys.Sticky) + len(s.Keys.Limit) + len(s.Keys.Fair)
	}
	for key, value := range s.Meta {
		n += 8 + len(key) + len(value)
	}
	return n
}

// roomOfBundles is how many bytes of members a bundle of this client has at most, as far as is
// known.
func (c *Client) roomOfBundles() int {
	if l := c.line.Load(); l != nil {
		return l.intake.room()
	}
	return record.MaxBundle
}

// bundle is submissions that are stored as one record, under the condition that nothing stands
// among the bundles of their block.
//
// A submission that was in a bundle must not go alone while the bundle may be stored, now or later:
// its task would be stored twice. So a bundle of which nothing is known is sent again as it is. It
// is stored in the end, or one of its faults lasts, or all its callers have left. If its only
// attempt is refused, it is shut out for good. If a later one is, an earlier attempt may also have
// stored it: see refusedBundle.
type bundle struct {
	op    natskv.Write
	list  []*arrival                  // by their indexes
	until clock.Instant               // it is sent again until then: later it may have been there, and be gone
	pace  *backoff.ExponentialBackOff // nil until nothing is known of an attempt
	timer *time.Timer                 // sends it again
}

// memberOf is a submission as a member of a bundle of its block, if it can be one.
func memberOf(op *natskv.Write) (block string, m record.Member, ok bool) {
	block, index, ok := bundles.Split(strings.TrimPrefix(op.Key, record.QueueKey))
	if !ok || len(op.Value) > record.MaxMember || op.Delete || op.Expect > 0 || op.Guard != nil || op.TTL > 0 {
		return "", m, false
	}
	m.Index, m.Data = uint16(index), op.Value
	for _, f := range op.Header {
		switch f.Name {
		case record.HeaderTask:
			m.Task = f.Value
		case record.HeaderKeys:
			m.Keys = f.Value
		case record.HeaderMeta:
			m.Meta = f.Value
		case record.HeaderTrace:
			m.Trace = f.Value
		default:
			return "", record.Member{}, false
		}
	}
	return block, m, true
}

// bundle is those submissions of the first one's block that go into one bundle, up to n, by their
// indexes. There are none if the first one goes in no bundle, or is in a half of a batch: others
// must not go before it.
func (in *intake) bundle(n int) (list []*arrival) {
	if in.apart || len(in.queue) == 0 || in.queue[0].block == "" || in.queue[0].lot > 0 {
		return nil
	}
	bytes, most := 0, in.room()
	for _, a := range in.queue {
		if a.block != in.queue[0].block || a.lot > 0 {
			continue
		}
		if bytes += a.member.Size(); bytes > most || len(list) == n {
			break
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *arrival) int { return cmp.Compare(a.member.Index, b.member.Index) })
	return list
}

// room is how many bytes of members a bundle has at most.
func (in *intake) room() int { return int(min(record.MaxBundle, in.most.Load()-record.Headroom)) }

func newBundle(list []*arrival) *bundle {
	members := make([]record.Member, len(list))
	for i, a := range list {
		members[i] = a.member
	}
	header, data := record.EncodeBundle(members)
	name := bundles.ID(list[0].block, int(list[0].member.Index))
	return &bundle{list: list, op: natskv.Write{
		Key: record.BundleKey + name, Value: data, Header: header, Guard: &natskv.Guard{Key: record.BundlesOf(name)},
	}}
}

func (in *intake) sendBundle(b *bundle) {
	if b.until == 0 {
		b.until = in.clock.Holder().Add(record.BundleRetention / 2)
	}
	in.writer.Submit(b.op, submitWithin, func(r natskv.Result) { in.bundleAnswered(b, r) })
}

// bundleAnswered handles the answer to a bundle. Its submissions go alone only if the only attempt
// was not taken, and will not be. Then the bundle is shut out, or the server takes no bundles: it
// denies them, or they are too large.
func (in *intake) bundleAnswered(b *bundle, r natskv.Result) {
	in.mu.Lock()
	now, once, verdict := in.now(), b.pace == nil, stream.Judge(r.Err)
	if once {
		in.rule.BatchAnswered(now, stream.FateOf(&r), len(in.queue))
	}
	var over, alone []*arrival
	switch {
	case r.Outcome == natskv.Won:
		over = b.list
	case r.Outcome == natskv.Refused && once:
		alone = b.list
		in.leave(now, alone)
	case r.Outcome == natskv.Refused:
		over, r = b.list, natskv.Result{Err: &refusedBundle{b.op.Key[len(record.BundleKey):], r.Err}}
	case once && (verdict == stream.Never || verdict == stream.Denied):
		in.apart, alone = true, b.list
		in.leave(now, alone)
	case in.ended:
		over, r = b.list, natskv.Result{Err: natskv.ErrClosed}
	case once && lasting(&r) != nil:
		over = b.list
	case lasting(&r) != nil: // of this attempt: nothing is known of the first one
		over, r = b.list, natskv.Result{Err: fmt.Errorf("%w: %w", errPerhapsStored, r.Err)}
	default:
		in.later(b, r.Err)
	}
	in.mu.Unlock()
	for _, a := range over {
		a.done(r)
	}
	for _, a := range alone {
		in.send(a)
	}
	in.turn()
}

// errNoAnswer ends a submission of which nothing is known for too long.
var errNoAnswer = fmt.Errorf("nothing has answered for %v, and the task may be stored: look for it by its id",
	record.BundleRetention/2)

// errPerhapsStored ends a submission that is not taken now. An attempt before may be stored.
var errPerhapsStored = errors.New(
	"an earlier attempt was not answered, and the task may be stored: look for it by its id")

// later has a bundle of which nothing is known sent again after a while, if anybody waits for it
// then. The time asleep counts: the claims that keep it out have gone then.
func (in *intake) later(b *bundle, fault error) {
	if b.pace == nil {
		b.pace = newPace()
	}
	in.again[b] = struct{}{}
	b.timer = time.AfterFunc(b.pace.NextBackOff(), func() {
		in.mu.Lock()
		_, waits := in.again[b]
		delete(in.again, b)
		in.mu.Unlock()
		switch {
		case !waits || !slices.ContainsFunc(b.list, func(a *arrival) bool { return a.ctx.Err() == nil }):
		case in.clock.Holder() < b.until:
			in.sendBundle(b)
		default:
			for _, a := range b.list {
				a.done(natskv.Result{Err: errors.Join(errNoAnswer, fault)})
			}
		}
	})
}
