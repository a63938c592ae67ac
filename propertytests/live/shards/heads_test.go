//go:build realtime

package shards

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// heads is what was written about the shards.
type heads struct {
	mu     sync.Mutex
	shards int
	leads  map[string]string // by role that is led
	last   map[string]string // by role: who has led it last
	moved  map[string]int    // by role: how often it has another leader than before
	killed map[string]bool   // processes whose sessions end by a kill of ours
	away   map[string]int    // by process: how many shards were taken from sessions that it lost, and are not back
	owed   int               // moves from such a session, or back
	debts  int               // all of these so far
	writes int
	other  int             // writes of other keys
	seen   map[string]bool // nonces of sessions
	opened map[string]int  // by process: its sessions
	want   map[string]int  // by process: its sessions when the one that runs now has opened one
}

func newHeads(t *testing.T, nc *nats.Conn, shards int) *heads {
	t.Helper()
	l := &heads{
		shards: shards, leads: map[string]string{}, last: map[string]string{}, moved: map[string]int{},
		killed: map[string]bool{}, away: map[string]int{},
		seen: map[string]bool{}, opened: map[string]int{}, want: map[string]int{},
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	c, err := js.OrderedConsumer(t.Context(), "KV_"+bucket, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	reading, err := c.Consume(l.read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		reading.Stop()
		<-reading.Closed()
	})
	return l
}

// read takes in what was written.
func (l *heads) read(m jetstream.Msg) {
	key := strings.TrimPrefix(m.Subject(), "$KV."+bucket+".")
	e := record.Decode(key, m.Data(), 1, len(m.Data()) == 0, time.Minute)
	kind, peer, role := record.ParseKey(key)
	l.take(kind, role+peer.Instance, &e)
}

// take takes in the record of a role, or one of a process; the other kinds have no name here.
func (l *heads) take(kind record.Kind, name string, e *record.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == record.KindLease && e.Lease.Alive() && !l.seen[e.Lease.Nonce] {
		l.seen[e.Lease.Nonce] = true
		l.opened[name]++
	}
	if kind != record.KindRole {
		l.other++
		return
	}
	l.writes++
	if e.Form != record.FormRecord || e.Role.Vacant {
		delete(l.leads, name)
		return
	}
	if by := l.last[name]; by != "" && by != e.Role.ID {
		l.move(name, by, e.Role.ID)
	}
	l.leads[name], l.last[name] = e.Role.ID, e.Role.ID
}

// move notes that a shard has another leader than before. A busy machine takes sessions from
// processes, and moves that it makes so are counted apart: from a session that ended without giving
// the shard up, though we did not kill it, and as many back to that process.
func (l *heads) move(shard, from, to string) {
	_, held := l.leads[shard]
	switch {
	case held && !l.killed[from]:
		l.away[from]++
		l.owed++
		l.debts++
	case l.away[to] > 0:
		l.away[to]--
		l.owed++
		l.debts++
	default:
		l.moved[shard]++
	}
}

// kills says that the session of a process ends by a kill of ours.
func (l *heads) kills(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed[name] = true
}

// starts says that a process will start.
func (l *heads) starts(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed[name], l.want[name] = false, l.opened[name]+1
}

// settle says that each process has its share again: nothing is owed to any from now on.
func (l *heads) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.away)
}

// spread says whether all shards are led by those processes, evenly. It says so only when a session
// of each was read of: what stands before is of the process of the same name that has ended.
func (l *heads) spread(alive []string) (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range alive {
		if l.opened[name] < l.want[name] {
			return false, name + " has opened no session"
		}
	}
	loads := map[string]int{}
	for _, id := range alive {
		loads[id] = 0
	}
	for _, id := range l.leads {
		if _, ok := loads[id]; ok {
			loads[id]++
		}
	}
	total, least, most := 0, l.shards, 0
	for _, n := range loads {
		total, least, most = total+n, min(least, n), max(most, n)
	}
	return total == l.shards && most-least <= 1,
		fmt.Sprintf("%d of %d shards, %d to %d each: %v", total, l.shards, least, most, loads)
}

// moves is how often shards were led by another process than before, since that was asked last.
type moves struct {
	all  int
	most int // of the shard with most
	owed int // to lost sessions, beside these
}

func (m moves) String() string {
	return fmt.Sprintf("%d moves, at most %d of one; %d owed to lost sessions", m.all, m.most, m.owed)
}

func (l *heads) moves() (m moves) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.moved {
		m.all, m.most = m.all+n, max(m.most, n)
	}
	m.owed = l.owed
	l.owed = 0
	clear(l.moved)
	return m
}

// written is how many writes there were, since that was asked last: about shards, and others.
func (l *heads) written() (shards, other int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shards, other = l.writes, l.other
	l.writes, l.other = 0, 0
	return shards, other
}

// sessions is how many there were, and how many moves were owed to lost ones.
func (l *heads) sessions() (n, owed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen), l.debts
}

// names are instance ids.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("p%02d", i))
	}
	return slices.Clip(all)
}
