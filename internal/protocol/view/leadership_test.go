package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func leaseOf(session uint64, nonce string, state record.LeaseState) record.Lease {
	return record.Lease{V: 1, Session: session, Nonce: nonce, TTLms: 1000, State: state}
}

// TestLeadership: each way in which a leader comes, is silent and goes has its word, and the last
// sign of the leader is the one that was seen of its own session.
func TestLeadership(t *testing.T) {
	var w *watcher
	role, lease := record.RoleKey("r"), record.LeaseKey(record.Peer{Class: record.Candidate, Instance: "a"})
	beat := func(rev uint64) { w.sees(lease, rev, leaseOf(5, "n", record.Live)) }
	claim := func() { beat(6); w.sees(role, 7, ledBy("a", 5, 1000)) }
	gap := func(d time.Duration) { w.now = w.now.Add(d) }
	vacant := func(by string, forced bool) {
		w.sees(role, 9, record.Role{V: 1, Vacant: true, By: by, Forced: forced, TTLms: 1000})
	}
	const none = time.Duration(-1)
	for _, c := range []struct {
		name string
		does func()
		want Leadership
		sign time.Duration // how long ago
	}{
		{"never held", func() {}, Vacant, none},
		{"claimed", claim, Leading, 1},
		{"beats", func() { claim(); gap(time.Second); beat(8); gap(time.Second - 1) }, Leading, time.Second - 1},
		{"silent", func() { claim(); beat(8); gap(time.Second) }, Silent, time.Second},
		{"holds nothing, by its own word", func() { claim(); w.sees(lease, 8, leaseOf(5, "n", record.Idle)) }, Silent, 0},
		{"its lease is gone", func() {
			claim()
			gap(time.Second)
			w.sees(lease, 8, nil)
			gap(time.Second)
		}, Silent, 2*time.Second + 2},
		{"killed", func() {
			claim()
			gap(time.Second)
			w.sees(lease, 8, leaseOf(5, "n", record.Killed))
			gap(time.Second)
		}, Dead, 2*time.Second + 2},
		{"closed by itself", func() {
			claim()
			gap(time.Second)
			w.sees(lease, 8, leaseOf(5, "n", record.Closed))
			gap(time.Second)
		}, Dead, time.Second},
		{"its instance has another session", func() {
			claim()
			gap(time.Second)
			w.sees(lease, 8, leaseOf(0, "m", record.Live))
			gap(time.Second)
		}, Dead, 2*time.Second + 2},
		{"given up", func() { claim(); gap(time.Second); vacant("a", false); gap(time.Second) }, Vacant, time.Second},
		{"taken by force", func() { claim(); gap(time.Second); vacant("a", true) }, Vacant, time.Second + 2},
		{"given up by another", func() { claim(); gap(time.Second); vacant("b", false) }, Vacant, time.Second + 2},
		{"its record is gone", func() { claim(); gap(time.Second); w.sees(role, 9, nil) }, Vacant, time.Second + 2},
		{"its record is garbage", func() { claim(); w.sees(role, 9, "garbage") }, Unreadable, 2},
		{"found vacant", func() { vacant("a", false) }, Vacant, none},
		{"found held, the lease is gone", func() { w.sees(role, 7, ledBy("a", 5, 1000)) }, Silent, none},
		{"found held by a dead session", func() {
			w.sees(lease, 8, leaseOf(5, "n", record.Killed))
			w.sees(role, 7, ledBy("a", 5, 1000))
		}, Dead, none},
		{"found held by a former session", func() {
			w.sees(lease, 8, leaseOf(8, "n", record.Live))
			w.sees(role, 7, ledBy("a", 5, 1000))
		}, Dead, none},
		{"claimed by another, whose lease was not seen", func() {
			claim()
			w.sees(role, 9, ledBy("b", 8, 1000))
		}, Silent, none},
		{"claimed again by the same session", func() {
			claim()
			w.sees(role, 9, ledBy("a", 5, 1000))
			gap(time.Second)
			w.sees(lease, 10, nil)
		}, Silent, time.Second + 3},
	} {
		w = newWatcher()
		c.does()
		r := w.Mention("r")
		sign := none
		if at, ok := w.LastSign(r); ok {
			sign = w.now.Sub(at)
		}
		if got := w.Leadership(w.now, r); got != c.want || sign != c.sign {
			t.Errorf("%s: %v, a sign %v ago; want %v, %v", c.name, got, sign, c.want, c.sign)
		}
		since, dead := w.DeadSince(r)
		if dead != (c.want == Dead) || dead && (since < r.Seen || since < w.Peer(r.Role.Holder()).EndSeen || since > w.now) {
			t.Errorf("%s: dead since %v, %t", c.name, since, dead)
		}
		if leads := w.Leader(r) != ""; leads != (c.want == Leading || c.want == Silent) {
			t.Errorf("%s: a leader is named: %t", c.name, leads)
		}
	}
}

// TestLastSignBeforeALateSnapshot: a lease that a snapshot does not show any more was seen to live
// before.
func TestLastSignBeforeALateSnapshot(t *testing.T) {
	w := newWatcher()
	lease := record.LeaseKey(record.Peer{Class: record.Candidate, Instance: "a"})
	w.sees(lease, 6, leaseOf(5, "n", record.Live))
	w.sees(record.RoleKey("r"), 7, ledBy("a", 5, 1000))
	w.snapshot(func() { w.sees(record.RoleKey("r"), 7, ledBy("a", 5, 1000)) })
	r := w.Role("r")
	if at, ok := w.LastSign(r); !ok || w.now.Sub(at) != 3 || w.Leadership(w.now, r) != Silent {
		t.Errorf("the last sign was %v ago, known %t, %v", w.now.Sub(at), ok, w.Leadership(w.now, r))
	}
}
