package doctor

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// changes counts the writes to roles and the heartbeats of sessions while the doctor watches.
type changes struct {
	mu    sync.Mutex
	begun bool
	roles map[string]int        // record writes
	beats map[record.Peer]pulse // of leases
	lives map[record.Peer]life
	again []string // instances that have begun a session, and not closed the one before
}

// life is the last that was seen of the sessions of a peer.
type life struct {
	session uint64
	closed  bool
}

// pulse is what was seen of one lease: its last renewal, and the gaps between renewals.
type pulse struct {
	session, beat uint64
	last          time.Time // by the server's clock
	gaps          []time.Duration
}

// Bounds of the memory: the doctor may watch for a long time.
const (
	maxWatchedRoles = 1000
	maxPulses       = 1000
	maxGaps         = 64
	maxAgain        = 1000
)

func (c *changes) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.roles = true, map[string]int{}
}

func (c *changes) observe(r inventory.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Kind == record.KindLease && r.Form == record.FormRecord {
		c.lived(r)
	}
	switch {
	case r.Kind == record.KindLease && r.Form == record.FormRecord && r.Lease.State == record.Live:
		c.renewed(r)
	case r.Kind == record.KindRole && c.begun && len(c.roles) < maxWatchedRoles:
		c.roles[r.Name]++
	}
}

// lived notes a session that has begun in the place of one that was not closed: under its id it
// leaves no other mark of that one.
func (c *changes) lived(r inventory.Record) {
	now := life{r.Lease.Session, r.Lease.State == record.Closed}
	if now.session == 0 { // the first record of a session does not know its revision
		now.session = r.Revision
	}
	before, seen := c.lives[r.Peer]
	if !seen && len(c.lives) == maxPulses {
		return
	}
	if seen && !before.closed && before.session != now.session && len(c.again) < maxAgain {
		c.again = append(c.again, r.Peer.Instance)
	}
	if c.lives == nil {
		c.lives = map[record.Peer]life{}
	}
	c.lives[r.Peer] = now
}

// restarts are the instances that have begun again without a close, each as often as it was seen.
func (c *changes) restarts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.again))
}

// renewed counts a heartbeat. If heartbeats in between were not seen, the gap is divided among
// them.
func (c *changes) renewed(r inventory.Record) {
	p, seen := c.beats[r.Peer]
	if !seen && len(c.beats) == maxPulses {
		return
	}
	if seen && p.session == r.Lease.Session && r.Lease.Beat > p.beat && len(p.gaps) < maxGaps {
		p.gaps = append(p.gaps, r.Time.Sub(p.last)/time.Duration(r.Lease.Beat-p.beat))
	}
	if p.session != r.Lease.Session {
		p.gaps = nil
	}
	p.session, p.beat, p.last = r.Lease.Session, r.Lease.Beat, r.Time
	c.beats[r.Peer] = p
}

// beatOf returns the heartbeat interval of a member: the median of the gaps seen or, with fewer
// than three gaps, the default for its TTL.
func (c *changes) beatOf(m election.MemberInfo) time.Duration {
	peer := record.Peer{Class: record.Candidate, Instance: m.Instance}
	if m.WorkerOnly {
		peer.Class = record.Worker
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	gaps := slices.Sorted(slices.Values(c.beats[peer].gaps))
	if len(gaps) < 3 {
		return m.TTL / 5
	}
	return gaps[len(gaps)/2]
}

// writes returns the number of writes to each role.
func (c *changes) writes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.roles)
}
