package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// shutOuts are the claims of this client, and whether it may claim at all. Until that is known, one
// claim goes at a time: of several that are denied at once the connection tells only the last.
type shutOuts struct {
	known  atomic.Bool
	denied atomic.Bool
	first  chan struct{} // size 1: the token of the caller that finds it out

	clock  clock.Clock
	mu     sync.Mutex
	claims *bundles.Claims
}

// relied is for how long a claim keeps its block, in parts of the time that it stands. A bundle is
// sent again for half of that time. The rest is for messages that are under way.
const relied = 3

func newShutOuts() *shutOuts {
	return &shutOuts{
		first: make(chan struct{}, 1), clock: clock.System(), claims: bundles.NewClaims(record.BundleRetention / relied),
	}
}

// now counts the time asleep, in which claims go.
func (x *shutOuts) now() protocolrecord.Instant { return protocolrecord.Instant(x.clock.Holder()) }

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

// hold reports whether a claim of this client keeps the block of a task, and is in a reading.
func (x *shutOuts) hold(id string, stands bundles.Standing) bool {
	block, _, _ := bundles.Split(id)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.claims.Hold(block, stands, x.now())
}

func (x *shutOuts) stored(id string, revision uint64, sent protocolrecord.Instant) {
	block, _, _ := bundles.Split(id)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.claims.Stored(block, revision, sent)
}

// claimed sees to it that a task that is in no bundle will never be in one. stands is what stood
// among the bundles of its block when it was looked for.
//
// A bundle with the task may be under way: its caller has left, and others of its callers have not.
// The task is about to be stored alone, and would be stored again with the bundle. So a claim is
// stored over what stands, under the condition that nothing has come since. While it stands, no
// bundle of the block is stored. If it is refused, something has come, or the reading is of a
// server that lags.
//
// It is over with an error that trying again does not cure, and with nil if the task may go alone.
// A client that may write no bundles cannot claim either, and does without once it knows that. In a
// stream with a bound there are no bundles.
func (c *Client) claimed(ctx context.Context, l *line, id string, stands bundles.Standing) (over bool, err error) {
	if _, _, ok := bundles.Split(id); !ok || l.stream.Bounded() {
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
	r, err := c.shutOut(ctx, l, id, stands)
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

// shutOut keeps bundles out of the block of a task, if nothing has come there since a reading: by a
// claim of this client that it relies on still, or by another. It returns only errors that trying
// again does not cure.
func (c *Client) shutOut(ctx context.Context, l *line, id string, stands bundles.Standing) (natskv.Result, error) {
	if l.shutOuts.hold(id, stands) {
		return natskv.Result{Outcome: natskv.Won}, nil
	}
	sent := l.shutOuts.now()
	r, err := c.write(ctx, l, record.Claim(id, stands.Last))
	if r.Outcome == natskv.Won {
		l.shutOuts.stored(id, r.Revision, sent)
	}
	return r, err
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
// alone. It reads until it knows: a server that lags shows nothing, or what has gone. After
// manyLooks the record that has refused the bundle is gone.
func (c *Client) stored(ctx context.Context, l *line, refused *refusedBundle) (bool, error) {
	last, pace := refused.err, newPace()
	for range manyLooks {
		l.seen.forget(refused.name)
		stands, err := c.stands(ctx, l, refused.name)
		if err == nil {
			switch stands.FateOf(refused.name) {
			case bundles.FateStored:
				return true, nil
			case bundles.FateOther:
				var r natskv.Result
				if r, err = c.shutOut(ctx, l, refused.name, stands); r.Outcome == natskv.Won {
					return false, nil
				}
			}
			err = cmp.Or(err, errLags)
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

// stands is what stands among the bundles of the block of an id.
func (c *Client) stands(ctx context.Context, l *line, id string) (s bundles.Standing, err error) {
	block, _, _ := bundles.Split(id)
	for from := uint64(1); ; from = s.Last + 1 {
		b, err := c.standing(ctx, l, block, from)
		if err != nil || b == nil {
			return s, err
		}
		s.Meets(b.is(), b.Revision)
	}
}
