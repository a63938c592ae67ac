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
	writes int
	other  int             // writes of other keys
	opened map[string]bool // sessions, by their nonces
}

func newHeads(t *testing.T, nc *nats.Conn, shards int) *heads {
	t.Helper()
	l := &heads{
		shards: shards, leads: map[string]string{}, last: map[string]string{}, moved: map[string]int{},
		opened: map[string]bool{},
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
	l.mu.Lock()
	defer l.mu.Unlock()
	key := strings.TrimPrefix(m.Subject(), "$KV."+bucket+".")
	kind, _, name := record.ParseKey(key)
	e := record.Decode(key, m.Data(), 1, len(m.Data()) == 0, time.Minute)
	if kind == record.KindLease && e.Lease.Alive() {
		l.opened[e.Lease.Nonce] = true
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
	if l.last[name] != "" && l.last[name] != e.Role.ID {
		l.moved[name]++
	}
	l.leads[name], l.last[name] = e.Role.ID, e.Role.ID
}

// spread says whether all shards are led by those processes, evenly. It says so only when that many
// sessions were read of: what stands before is of the process of the same name that has ended.
func (l *heads) spread(alive []string, sessions int) (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.opened); n < sessions {
		return false, fmt.Sprintf("%d sessions of %d", n, sessions)
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

// moves is how often shards were led by another process than before, since that was asked last: of
// all, and of the one with most.
func (l *heads) moves() (all, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.moved {
		all, most = all+n, max(most, n)
	}
	clear(l.moved)
	return all, most
}

// written is how many writes there were, since that was asked last: about shards, and others.
func (l *heads) written() (shards, other int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shards, other = l.writes, l.other
	l.writes, l.other = 0, 0
	return shards, other
}

// sessions is how many there were.
func (l *heads) sessions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.opened)
}

// names are instance ids.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("p%02d", i))
	}
	return slices.Clip(all)
}
