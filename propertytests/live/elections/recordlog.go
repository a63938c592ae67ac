package elections

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// hottest is how many records may be stored at one key within a second. A heartbeat is one in some
// hundred milliseconds; a loop that does not wait makes thousands.
const hottest = 30

// expectHeader is the condition of a write, which is stored with it: the revision that it replaced.
const expectHeader = "Nats-Expected-Last-Subject-Sequence"

// RecordLog is what was stored, as a watch of the whole bucket shows it. On the virtual clock an
// entry is seen in the very moment in which it is stored; across a restart of the server, those
// that were overwritten meanwhile are missing.
type RecordLog struct {
	// Undrained allows that roles are given away before their work has returned.
	Undrained bool

	a     *Arena
	every time.Duration // between two heartbeats of its watch
	ctx   context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu         sync.Mutex
	last       uint64
	roles      roleRecords         // the last record of each role
	writes     map[string]int      // by key
	bursts     map[string]burst    // by key
	leases     map[string]sighting // the last record of each lease, by key
	kills      int
	expired    []Expiry
	violations []error
}

// sighting is a record and when it was seen.
type sighting struct {
	what string
	at   time.Time
}

type roleRecords = map[string]record.Entry

type burst struct {
	since time.Time
	n     int
	told  bool
}

// newRecordLog follows the bucket. A server with files restarts, and a cluster loses servers: there
// a watch that has ended is missed soon. In virtual time a heartbeat costs as much as a record, and
// hours have thousands.
func newRecordLog(a *Arena, storage jetstream.StorageType) *RecordLog {
	every := 2 * time.Second
	if a.Server != nil && storage == jetstream.MemoryStorage {
		every = 5 * time.Second
	}
	c := &RecordLog{
		a: a, every: every, roles: roleRecords{}, writes: map[string]int{}, bursts: map[string]burst{},
		leases: map[string]sighting{},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.wg.Go(c.run)
	return c
}

func (c *RecordLog) close() {
	c.stop()
	c.wg.Wait()
}

func (c *RecordLog) run() {
	for c.ctx.Err() == nil {
		c.follow()
		select { // the server is away, for a while
		case <-time.After(100 * time.Millisecond):
		case <-c.ctx.Done():
		}
	}
}

func (c *RecordLog) follow() {
	ctx, cancel := context.WithTimeout(c.ctx, time.Second)
	defer cancel()
	bucket, err := natskv.Open(ctx, c.a.operator, Bucket)
	if err != nil {
		return
	}
	watch, err := bucket.WatchEvery(ctx, c.a.operator, "", c.every)
	if err != nil {
		return
	}
	defer watch.Close()
	for {
		select {
		case u, ok := <-watch.C():
			if !ok {
				return
			}
			for _, e := range u.Entries {
				c.take(e, bucket.MaxTTL())
			}
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *RecordLog) take(raw natskv.Entry, maxTTL time.Duration) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw.Revision <= c.last {
		return // a new watch begins with what stands there
	}
	c.last = raw.Revision
	c.writes[raw.Key]++
	c.heat(raw.Key, raw.Time)
	switch e := record.Decode(raw.Key, raw.Value, raw.Revision, raw.Marker, maxTTL); {
	case e.Kind == record.KindRole:
		c.givenAway(e, raw.Header.Get(expectHeader), now)
		c.roles[e.Name] = e
	case e.Kind == record.KindLease && e.Form == record.FormMarker:
		before := c.leases[raw.Key]
		x := Expiry{raw.Key, before.what, now.Sub(before.at)}
		c.expired = append(c.expired, x)
		c.a.Note("expired: %v", x)
	case e.Kind == record.KindLease && e.Lease.State == record.Killed:
		c.kills++
		c.leases[raw.Key] = sighting{"it was killed", now}
	case e.Kind == record.KindLease:
		if e.Lease.State == record.Closed {
			c.a.Tally.Add(leaseClosed, 1)
		}
		c.leases[raw.Key] = sighting{fmt.Sprintf("a record of session %d, %v", e.Lease.Session, e.Lease.State), now}
	}
}

// heat finds keys that are written without a pause, by when each was stored: a watch that was held
// up shows many at once. A server's clock that was set back begins again.
func (c *RecordLog) heat(key string, stored time.Time) {
	b := c.bursts[key]
	if passed := stored.Sub(b.since); passed > time.Second || passed < 0 {
		b = burst{since: stored}
	}
	if b.n++; b.n > hottest && !b.told {
		b.told = true
		c.violations = append(c.violations, fmt.Errorf("hot loop: %s was written %d times since %s", key, b.n,
			b.since.Format("15:04:05.000")))
	}
	c.bursts[key] = b
}

// givenAway is E7: when a holder gives a role away, its work has returned. A vacancy by force is
// somebody else's doing, and successors wait for it. The condition of the write says which record
// it replaced: where the watch was lost meanwhile, that need not be the last one seen, and then
// nobody knows whose role was given away.
func (c *RecordLog) givenAway(e record.Entry, replaced string, now time.Time) {
	before, known := c.roles[e.Name]
	if c.Undrained || !known || before.Form != record.FormRecord || before.Role.Vacant ||
		e.Form != record.FormRecord || !e.Role.Vacant || e.Role.Forced ||
		replaced != strconv.FormatUint(before.Revision, 10) {
		return
	}
	c.a.Tally.Add("given away", 1)
	if h := c.a.Ledger.undrained(e.Name, before.Role.Session, now); h != nil && h.Epoch <= before.Revision {
		c.violations = append(c.violations, fmt.Errorf("E7: %s was given away (%s) before its work had returned:\n  %v",
			e.Name, e.Role.Reason, h))
	}
}

// Violations are what was found so far.
func (c *RecordLog) Violations() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.violations...)
}

// Writes counts what was stored so far, by key.
func (c *RecordLog) Writes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.writes)
}

// Kills counts the sessions that others have ended.
func (c *RecordLog) Kills() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kills
}

// Expiry is a lease that the server has taken away: what stood there, and how long ago that was
// seen.
type Expiry struct {
	Key, What string
	Age       time.Duration
}

func (x Expiry) String() string {
	return fmt.Sprintf("%s, %v after %s", x.Key, x.Age.Round(time.Millisecond), x.What)
}

// Expired are the leases that the server has taken away, by its markers over them.
func (c *RecordLog) Expired() []Expiry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Expiry(nil), c.expired...)
}

// Role is the last record of a role.
func (c *RecordLog) Role(name string) (e record.Entry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok = c.roles[name]
	return e, ok
}
