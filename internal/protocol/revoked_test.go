package protocol

import (
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestRevoked: a lease that an operator takes from its process ends the session at once. The next
// one opens only under a new watch, for which the driver asks which bucket this is. A watch that
// shows the revoked lease again changes nothing.
func TestRevoked(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	g.begin("r")
	key, base := record.LeaseKey(g.m.self.Peer), len(g.effs)
	l := g.m.self.Lease
	l.State, l.By = record.Revoked, "an operator"
	g.mute = true
	g.sees(key, l)
	revoked := record.Decode(key, record.Encode(l), g.rev, false, time.Minute)
	count := func(is func(Effect) bool) (n int) {
		for _, e := range g.effs[base:] {
			if is(e) {
				n++
			}
		}
		return n
	}
	ended := func(e Effect) bool { _, is := e.(EndTerm); return is }
	rebuilt := func(e Effect) bool { _, is := e.(RebuildWatch); return is }
	if count(ended) != 1 || count(rebuilt) != 1 {
		t.Fatalf("%d terms ended, %d new watches were asked for", count(ended), count(rebuilt))
	}
	lease := func(w Write) bool { return w.Key == key }
	if g.run(time.Minute, nil); slices.ContainsFunc(g.pend, lease) {
		t.Fatal("the lease is written before there is a new watch")
	}
	g.step(WatchReset{Known: g.rev, Last: g.rev})
	g.step(Delivered{&revoked})
	g.step(SnapshotDone{})
	if asked := count(rebuilt); asked != 1 {
		t.Errorf("%d new watches were asked for", asked)
	}
	if g.run(2*time.Minute, nil); !slices.ContainsFunc(g.pend, lease) {
		t.Error("no session is opened under the new watch")
	}
}

// TestRevokedIsNotDead: nobody has waited for a session whose lease was revoked, so its role is not
// free before others have waited for the lease.
func TestRevokedIsNotDead(t *testing.T) {
	g := newRig(t, nil)
	const ttl = 30 * time.Second
	lease := record.Lease{
		V: record.Version, Session: 7, Nonce: "n", TTLms: ttl.Milliseconds(), State: record.Live, Beat: 1,
	}
	key := record.LeaseKey(record.Peer{Instance: "b"})
	g.sees(key, lease)
	g.sees(record.RoleKey("r"), heldBy("b", 7, ttl.Milliseconds()))
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	lease.State, lease.By = record.Revoked, "an operator"
	g.sees(key, lease)
	at := g.now.Observer
	if g.m.View().Dead(record.Peer{Instance: "b"}, 7) {
		t.Error("the session counts as dead")
	}
	g.run(2*ttl, func() {
		if g.claims("r") && g.now.Observer.Sub(at) < ttl {
			t.Fatalf("claimed %v after the lease was revoked, want %v at least", g.now.Observer.Sub(at), ttl)
		}
	})
	if !g.claims("r") {
		t.Error("the role is not claimed")
	}
}

// TestAbsentFromAnAdoptedBucket: a role that has no record is free in a new bucket, and in an
// adopted one after L_max.
func TestAbsentFromAnAdoptedBucket(t *testing.T) {
	for _, adopted := range []bool{false, true} {
		g := newRig(t, func(c *Config) { c.Adopted = adopted })
		at := g.now.Observer
		g.step(Join{RoleConfig{Name: "r"}})
		g.run(5*time.Second, nil)
		if g.claims("r") == adopted {
			t.Errorf("adopted %t: claimed within 5 s: %t", adopted, g.claims("r"))
		}
		g.run(g.m.cfg.MaxTTL, nil)
		if !g.claims("r") {
			t.Errorf("adopted %t: not claimed %v after the start", adopted, g.now.Observer.Sub(at))
		}
	}
}
