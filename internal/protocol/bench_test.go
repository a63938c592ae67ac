package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// bucket is a store for benchmarks and transcripts: every write wins, and is delivered to all that
// watch.
type bucket struct {
	last    uint64
	entries []record.Entry
}

func (b *bucket) write(w Write) record.Entry {
	b.last++
	e := record.Decode(w.Key, w.Value, b.last, w.Delete, 2*time.Minute)
	b.entries = append(b.entries, e)
	return e
}

func at(t time.Duration) record.Now {
	return record.Now{Holder: record.Instant(time.Hour + t), Observer: record.Instant(time.Hour + t)}
}

// lead opens a session of m and lets it claim what it can: every write wins at once.
func (b *bucket) settle(m *Machine, now record.Now, out []Effect) {
	for len(out) > 0 {
		var next []Effect
		for _, e := range out {
			w, ok := e.(Write)
			if !ok {
				continue
			}
			entry := b.write(w)
			next = m.Step(now, Written{ID: w.ID, Outcome: record.Won, Revision: entry.Revision}, next)
			next = m.Step(now, Delivered{&entry}, next)
		}
		out = next
	}
}

func opened(b *bucket, instance string, now record.Now, roles int) *Machine {
	m := New(testConfig(instance))
	out := m.Step(now, WatchReset{}, nil)
	for i := range roles {
		out = m.Step(now, Join{RoleConfig{Name: fmt.Sprintf("r%d", i)}}, out)
	}
	for i := range b.entries {
		out = m.Step(now, Delivered{&b.entries[i]}, out)
	}
	b.settle(m, now, m.Step(now, SnapshotDone{}, out))
	return m
}

// BenchmarkForeignBeat is what a heartbeat of somebody else costs with 10,000 roles in view, a
// millisecond after the last one. It includes all that is due in those steps, such as a beat of its
// own, but not the answers to that.
func BenchmarkForeignBeat(b *testing.B) {
	store := &bucket{}
	leader := opened(store, "leader", at(0), 10_000)
	if leader.leading != 10_000 {
		b.Fatalf("it leads %d roles", leader.leading)
	}
	m := opened(store, "follower", at(0), 10_000)
	e := record.Entry{
		Kind: record.KindLease, Peer: record.Peer{Class: record.Candidate, Instance: "leader"},
		Form: record.FormRecord, Lease: leader.self.Lease,
	}
	out := make([]Effect, 0, 8)
	elapsed := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		elapsed += time.Millisecond
		store.last++
		e.Revision = store.last
		e.Lease.Beat++
		if out = m.Step(at(elapsed), Delivered{&e}, out[:0]); len(out) > 0 {
			b.StopTimer()
			store.settle(m, at(elapsed), out)
			store.entries = store.entries[:0]
			b.StartTimer()
		}
	}
	if m.leading != 0 || !m.self.Lease.Alive() {
		b.Fatalf("it leads %d roles, and its lease is %s", m.leading, m.self.Lease.State)
	}
}

// BenchmarkOwnBeat is a heartbeat of a leader of 10,000 roles: it is due, written, answered and
// seen.
func BenchmarkOwnBeat(b *testing.B) {
	store := &bucket{}
	m := opened(store, "leader", at(0), 10_000)
	out := make([]Effect, 0, 8)
	elapsed := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		elapsed += m.cfg.Heartbeat
		before := m.self.Lease.Beat
		store.settle(m, at(elapsed), m.Step(at(elapsed), Tick{}, out[:0]))
		store.entries = store.entries[:0]
		if m.self.Lease.Beat != before+1 {
			b.Fatalf("beat %d after %d", m.self.Lease.Beat, before)
		}
	}
	if m.leading != 10_000 {
		b.Fatalf("it leads %d roles", m.leading)
	}
}

// BenchmarkMassClaim is the steps by which one survivor takes 1,000 roles of a session that was
// just killed.
func BenchmarkMassClaim(b *testing.B) {
	for range b.N {
		b.StopTimer()
		store := &bucket{}
		opened(store, "leader", at(0), 1000)
		m := opened(store, "follower", at(0), 1000)
		beat := at(9 * time.Second)
		store.settle(m, beat, m.Step(beat, Tick{}, nil))
		now := at(11 * time.Second)
		b.StartTimer()
		store.settle(m, now, m.Step(now, Tick{}, nil))
		for range 3 { // the kill, its short beat, the claims after their turn
			now = record.Now{Holder: now.Holder.Add(100 * time.Millisecond), Observer: now.Observer.Add(100 * time.Millisecond)}
			store.settle(m, now, m.Step(now, Tick{}, nil))
		}
		if m.leading != 1000 {
			b.Fatalf("it leads %d roles", m.leading)
		}
	}
}
