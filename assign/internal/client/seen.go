package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// A client remembers the bundles that it has read for keepSeen, and keeps mostSeen bytes of them at
// most: callers that look for members of one bundle read it once.
//
// A caller that looks for a member makes three readings. The second one may be from before the
// first one, by keepSeen at most.
//
//  1. There is nothing at q.<task>.
//  2. The bundle stands.
//  3. The record beside it says which members have ended.
//
// The third reading begins after both others, and it decides. The member has ended if the record
// says so, or if it is empty. It is open if the record is of this bundle and does not say so,
// because the record is emptied in the step that removes the bundle. There remains the case that
// there is no record of this bundle. Then no member has ended, or all of them have ended since the
// second reading:
//
//   - with an empty record, which would stand for record.MinRetention, or
//   - in one step without any record. Then the outcome at q.<task> would stand for as long, if it
//     was stored before the first reading. If not, the task was open at the first reading.
//
// From the beginning of the second reading to the end of the third one it takes no longer than
// keepSeen and two readings, record.ReadWithin each. The bundle may come from a server that lags,
// by recordLag at most, and a record may leave a second early. All of that together is less than
// record.MinRetention. So the task is open, or somebody has deleted its outcome. A client that
// deletes an outcome forgets the bundle. Another client may say for keepSeen that the task is open.
const (
	keepSeen = record.MinRetention / 2
	mostSeen = 8 * record.MaxBundle
)

// recentReads are the bundles that a client has seen, and its readings that are under way.
type recentReads struct {
	mu       sync.Mutex
	bundles  *bundles.Seen[*standing]
	readings singleflight.Group
}

// standing is a record of a bundle that was read. A claim, and what stands in the place of a bundle
// whose members have all ended, has no members and no fault.
type standing struct {
	natskv.Entry
	name    string
	first   int // index of its first member
	members []record.Member
	fault   error // why the members cannot be read
}

// is names the record to the rules. A claim is none of a bundle, wherever it stands: some clients
// wrote it at the place of a task.
func (b *standing) is() string {
	if record.IsClaim(&b.Entry) {
		return bundles.ClaimOf(b.name)
	}
	return b.name
}

// memberTakes bounds what a decoded member takes beside its text, in bytes.
const memberTakes = 128

func (b *standing) size() int { return len(b.Value) + memberTakes*(1+len(b.members)) }

// standing is the first record of the bundles of a block, from a revision on; nil if there is none.
func (c *Client) standing(ctx context.Context, l *line, block string, from uint64) (*standing, error) {
	if b, ok := l.seen.first(block, from); ok {
		return b, nil
	}
	key := fmt.Sprint(record.BundleKey, block, ".", from)
	return together(ctx, &l.seen, key, func(ctx context.Context) (*standing, error) {
		if b, ok := l.seen.first(block, from); ok { // it was read since
			return b, nil
		}
		return c.readStanding(ctx, l, block, from)
	}, func(b *standing) bool { return b != nil })
}

func (s *recentReads) first(block string, from uint64) (*standing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bundles.First(block, from, time.Now())
}

func (c *Client) readStanding(ctx context.Context, l *line, block string, from uint64) (*standing, error) {
	began := time.Now()
	e, err := c.nextRecord(ctx, l, record.BundleKey+block+".*", from)
	if err != nil || e.Revision == 0 {
		return nil, err
	}
	b := &standing{Entry: e, name: e.Key[len(record.BundleKey):]}
	var ok bool
	if _, b.first, ok = bundles.Split(b.name); e.Marker || len(e.Value) == 0 || !ok {
		return b, nil
	}
	b.members, b.fault = record.DecodeBundle(b.name, e.Header, e.Value)
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.seen.bundles.Stood(block, from, b, b.size(), began)
	return b, nil
}

// forget has the bundles of the block of an id read again.
func (s *recentReads) forget(id string) {
	block, _, _ := bundles.Split(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundles.Forget(block)
}

// together reads once for the callers that want the same at the same time. A caller takes what was
// read for another one that came before it if that is enough. Else it takes only a reading that
// began after it came.
func together[T any](ctx context.Context, s *recentReads, key string, read func(context.Context) (T, error),
	enough func(T) bool,
) (v T, err error) {
	for range 2 { // the second reading begins after the first one has ended
		mine := false
		answered := s.readings.DoChan(key, func() (any, error) {
			mine = true
			return read(context.WithoutCancel(ctx))
		})
		select {
		case r := <-answered:
			v, _ = r.Val.(T)
			if err = r.Err; mine || err == nil && enough(v) {
				return v, err
			}
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
	return v, err
}
