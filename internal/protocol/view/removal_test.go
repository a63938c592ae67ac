package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestRemoval: a role may be removed when it was vacated a longest lease time ago, and no live
// member takes part in it. After a vacancy by force all have waited by then.
func TestRemoval(t *testing.T) {
	b := record.Peer{Class: record.Candidate, Instance: "b"}
	vacant := record.Role{V: 1, Vacant: true, By: "a", TTLms: 1000}
	forced := vacant
	forced.Forced = true
	wants := func(w *watcher, state record.LeaseState) {
		w.sees(record.LeaseKey(b), 50, leaseOf(50, "n", state))
		w.sees(record.MemberKey(b), 51, record.Member{
			V: 1, Session: 50, Roles: record.CandidaciesOf(map[string]record.Candidacy{"r": {Eligible: false}}),
		})
	}
	for name, c := range map[string]struct {
		see  func(w *watcher)
		want Removal
		by   string
	}{
		"vacant": {func(w *watcher) { w.sees("c.role.r", 60, vacant) }, Removable, ""},
		"led": {func(w *watcher) {
			w.sees(record.LeaseKey(b), 50, leaseOf(50, "n", record.Live))
			w.sees("c.role.r", 60, record.Role{V: 1, ID: "b", Session: 50, TTLms: 1000})
		}, RemovalLed, "b"},
		"its leader is dead": {func(w *watcher) {
			w.sees(record.LeaseKey(b), 70, leaseOf(50, "n", record.Killed))
			w.sees("c.role.r", 60, record.Role{V: 1, ID: "b", Session: 50, TTLms: 1000})
		}, RemovalEnded, "b"},
		"its leader has a later session": {func(w *watcher) {
			w.sees(record.LeaseKey(b), 70, leaseOf(70, "n", record.Live))
			w.sees("c.role.r", 60, record.Role{V: 1, ID: "b", Session: 50, TTLms: 1000})
		}, RemovalEnded, "b"},
		"its leader is dead, and another one wants it": {func(w *watcher) {
			wants(w, record.Idle)
			w.sees("c.role.r", 60, record.Role{V: 1, ID: "c", Session: 55, TTLms: 1000})
			w.sees(record.LeaseKey(record.Peer{Class: record.Candidate, Instance: "c"}), 70, leaseOf(55, "m", record.Killed))
		}, RemovalWanted, "b"},
		"the lease of its leader cannot be read": {func(w *watcher) {
			w.sees(record.LeaseKey(b), 50, "{")
			w.sees("c.role.r", 60, record.Role{V: 1, ID: "b", Session: 50, TTLms: 1000})
		}, RemovalLed, "b"},
		"deleted": {func(w *watcher) { w.sees("c.role.r", 60, nil) }, RemovalLed, ""},
		"forced":  {func(w *watcher) { w.sees("c.role.r", 60, forced) }, Removable, ""},
		"wanted": {func(w *watcher) {
			wants(w, record.Idle)
			w.sees("c.role.r", 60, vacant)
		}, RemovalWanted, "b"},
		"wanted by a dead member": {func(w *watcher) {
			wants(w, record.Idle)
			w.sees(record.LeaseKey(b), 70, leaseOf(50, "n", record.Closed))
			w.sees("c.role.r", 60, vacant)
		}, Removable, ""},
	} {
		w := newWatcher()
		c.see(w)
		r := w.Role("r")
		if why, by, _ := w.Removal(r.Seen.Add(w.MaxTTL), r); why != c.want || by != c.by {
			t.Errorf("%s: %d by %q", name, why, by)
		}
		if c.want != Removable {
			continue
		}
		almost := r.Seen.Add(w.MaxTTL - time.Millisecond)
		early := RemovalRecent
		if r.Role.Forced {
			early = RemovalForced
		}
		if why, _, until := w.Removal(almost, r); why != early || until != r.Seen.Add(w.MaxTTL) {
			t.Errorf("%s, for too short a time: %d until %v", name, why, until)
		}
	}
}

// TestRemovalAfterALostLease: a session whose lease is gone may not know it. The role may be
// removed once that is so for the longest lease time; or at once where not even the marker is left,
// which stays for longer.
func TestRemovalAfterALostLease(t *testing.T) {
	a, b := record.Peer{Class: record.Candidate, Instance: "a"}, record.Peer{Class: record.Candidate, Instance: "b"}
	w := newWatcher()
	w.sees(record.LeaseKey(a), 50, leaseOf(50, "n", record.Live))
	w.sees("c.role.r", 60, record.Role{V: 1, ID: "a", Session: 50, TTLms: 1000})
	w.sees("c.role.s", 61, record.Role{V: 1, ID: "b", Session: 40, TTLms: 1000})
	r, s := w.Role("r"), w.Role("s")
	if why, by, until := w.Removal(w.now, r); why != RemovalLed || by != "a" || until != 0 {
		t.Errorf("its leader lives: %d by %q until %v", why, by, until)
	}
	w.sees(record.LeaseKey(a), 70, nil)
	gone := w.Peer(a).Seen.Add(w.MaxTTL)
	if why, by, until := w.Removal(gone-1, r); why != RemovalLed || by != "a" || until != gone {
		t.Errorf("its lease was removed a moment ago: %d by %q until %v, want %v", why, by, until, gone)
	}
	if why, _, _ := w.Removal(gone, r); why != RemovalEnded {
		t.Errorf("its lease was removed a longest lease time ago: %d", why)
	}
	if why, _, _ := w.Removal(w.now, s); w.Peer(b).Form != record.FormNone || why != RemovalEnded {
		t.Errorf("its leader has no lease: %d", why)
	}
}
