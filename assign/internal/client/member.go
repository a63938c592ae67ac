package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// member reads the record of a task that is an open member of a bundle. The revision is 0 if the
// task is none. first is the first record that stands among the bundles of its block. Errors: also
// record.ErrRecord, for a bundle that cannot be read.
func (c *Client) member(ctx context.Context, l *line, id string) (e natskv.Entry, first bundles.Standing, err error) {
	block, index, ok := bundles.Split(id)
	if !ok {
		return e, first, nil
	}
	first, err = c.members(ctx, l, block, []int{index}, func(_ int, m natskv.Entry) error {
		e = m
		e.Value = bytes.Clone(m.Value)
		return nil
	})
	return e, first, err
}

// members looks for tasks of one block of ids in its bundles. It gives take those that are open
// members, by their places in indexes. Their data are parts of bundles, which others read. first is
// the first record that it has met.
func (c *Client) members(ctx context.Context, l *line, block string, indexes []int,
	take func(i int, e natskv.Entry) error,
) (first bundles.Standing, err error) {
	left := make([]int, len(indexes)) // places in indexes
	for i := range left {
		left[i] = i
	}
	for from := uint64(1); len(left) > 0; {
		b, err := c.standing(ctx, l, block, from)
		if err != nil || b == nil {
			return first, err
		}
		if first.Open() {
			first = b.is()
		}
		from = b.Revision + 1
		if !slices.ContainsFunc(left, func(i int) bool { return indexes[i] >= b.first }) {
			continue
		}
		if b.fault != nil {
			return first, b.fault
		}
		elsewhere := func(i int) bool {
			_, here := record.MemberOf(b.members, indexes[i])
			return !here
		}
		here := slices.DeleteFunc(slices.Clone(left), elsewhere)
		if len(here) == 0 {
			continue
		}
		ended, all, err := c.ended(ctx, l, b.name, b.Revision)
		if err != nil {
			return first, err
		}
		for _, i := range here {
			place, _ := record.MemberOf(b.members, indexes[i])
			if all || ended.Has(place) {
				continue
			}
			if err := take(i, b.members[place].Alone(bundles.ID(block, indexes[i]), &b.Entry)); err != nil {
				return first, err
			}
		}
		left = slices.DeleteFunc(left, func(i int) bool { return !elsewhere(i) })
	}
	return first, nil
}

// ended reads which members have ended of a bundle that was seen at a revision: all, if the bundle
// has been removed since. The record that is removed with the bundle leaves an empty one for longer
// than the bundle is remembered.
func (c *Client) ended(ctx context.Context, l *line, bundle string, of uint64) (places bundles.Set, all bool,
	err error,
) {
	key := record.EndedKey + bundle
	e, err := together(ctx, &l.seen, key, func(ctx context.Context) (natskv.Entry, error) {
		return c.look(ctx, l, key)
	}, func(natskv.Entry) bool { return false })
	switch {
	case err != nil || e.Revision < of: // there is none
		return nil, false, err
	case e.Marker || len(e.Value) == 0:
		return nil, true, nil
	}
	r, err := record.DecodeEnded(e.Value)
	if err != nil || r.Of != of {
		return nil, false, err
	}
	return r.Places, false, nil
}

// nextRecord reads the first record, from a revision on, whose key matches a filter. A missing
// record has revision 0.
func (c *Client) nextRecord(ctx context.Context, l *line, filter string, from uint64) (natskv.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	e, err := l.stream.Next(ctx, c.nc, filter, from)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return natskv.Entry{}, nil
	}
	return e, err
}

// shutOuts is whether this client may shut bundles out by claims. Until that is known, one claim
// goes at a time: of several that are denied at once the connection tells only the last.
type shutOuts struct {
	known  atomic.Bool
	denied atomic.Bool
	first  chan struct{} // size 1: the token of the caller that finds it out
}

// enter waits until it is known, or until the caller is the one to find it out. It fails only with
// ctx.
func (x *shutOuts) enter(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if x.known.Load() {
		return leave, nil
	}
	select {
	case x.first <- struct{}{}:
	case <-ctx.Done():
		return leave, ctx.Err()
	}
	if x.known.Load() {
		<-x.first
		return leave, nil
	}
	return func() { <-x.first }, nil
}

// claimed sees to it that a task that is in no bundle will never be in one. first is what stood
// first among the bundles of its block when it was looked for.
//
// A bundle with the task may be under way: its caller has left, and others of its callers have not.
// The task is about to be stored alone, and would be stored again with the bundle. Where anything
// stands among the bundles of the block, no bundle is stored any more. Where nothing stands, a
// claim is stored under the condition of a bundle. If that is refused, something stands there
// already.
//
// It is over with an error that trying again does not cure, and with nil if the task may go alone.
// A client that may write no bundles cannot claim either, and does without once it knows that. In a
// stream with a bound there are no bundles.
func (c *Client) claimed(ctx context.Context, l *line, id string, first bundles.Standing) (over bool, err error) {
	if _, _, ok := bundles.Split(id); !ok || !first.Open() || l.stream.Bounded() {
		return true, nil
	}
	leave, err := l.shutOuts.enter(ctx)
	if err != nil {
		return true, err
	}
	defer leave()
	if l.shutOuts.denied.Load() {
		return true, nil
	}
	r, err := c.write(ctx, l, record.Claim(id))
	denied := stream.Judge(err) == stream.Denied
	if denied {
		l.shutOuts.denied.Store(true)
	}
	if denied || r.Outcome != natskv.Unknown || errors.Is(err, taskerr.ErrStreamFull) {
		l.shutOuts.known.Store(true)
	}
	switch {
	case denied, r.Outcome == natskv.Won:
		return true, nil
	case err != nil:
		return true, err
	}
	return false, r.Err
}

// refusedBundle says that the server has refused a bundle of which nothing was known, so no attempt
// is stored from now on. Either an earlier one is, or something else stands among the bundles of
// its block.
type refusedBundle struct {
	name string
	err  error
}

func (e *refusedBundle) Error() string { return fmt.Sprintf("the bundle %s: %v", e.name, e.err) }
func (e *refusedBundle) Unwrap() error { return e.err }

// stored reports whether a bundle that was refused is there, or was. If not, its submissions may go
// alone. It reads until it knows: a server that lags shows nothing. After manyLooks the record that
// has refused the bundle is gone.
func (c *Client) stored(ctx context.Context, l *line, refused *refusedBundle) (bool, error) {
	block, _, _ := bundles.Split(refused.name)
	last, pace := refused.err, newPace()
	for range manyLooks {
		b, err := c.standing(ctx, l, block, 1)
		if err == nil {
			switch b.is().FateOf(refused.name) {
			case bundles.FateStored:
				return true, nil
			case bundles.FateShutOut:
				return false, nil
			}
			err = errLags
		}
		if natskv.Permanent(err) {
			return false, fmt.Errorf("%w: %w", errPerhapsStored, err)
		}
		last = err
		if ended := c.pause(ctx, pace); ended != nil {
			return false, errors.Join(ended, err)
		}
	}
	return false, fmt.Errorf("%w: %w", errPerhapsStored, last)
}

// manyLooks take more than a minute.
const manyLooks = 24
