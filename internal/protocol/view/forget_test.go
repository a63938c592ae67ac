package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestEndedPeersAreForgotten: a session that has ended is known to be dead for as long as its
// tombstone is in the bucket, and is then forgotten, unless something still speaks of it. No watch
// tells that a tombstone has left.
func TestEndedPeersAreForgotten(t *testing.T) {
	const longest = time.Minute
	b := record.Peer{Class: record.Candidate, Instance: "b"}
	for name, c := range map[string]struct {
		also               *record.Entry // what else is in the bucket
		booked, own, stays bool
	}{
		"nothing speaks of it": {},
		"a role names it": {also: &record.Entry{
			Kind: record.KindRole, Name: "r", Revision: 7, Form: record.FormRecord,
			Role: record.Role{V: 1, ID: "b", Session: 3, TTLms: 1000},
		}, stays: true},
		"it has a member record": {also: &record.Entry{
			Kind: record.KindMember, Peer: b, Revision: 7, Form: record.FormRecord, Member: &record.Member{V: 1, Session: 3},
		}, stays: true},
		"a later session is in the state": {booked: true, stays: true},
		"it is our own":                   {own: true, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := New[none, none](longest)
			var n News[none, none]
			if c.own {
				v.Own(b)
			}
			v.BeginWatch(Watch{}, record.Peer{})
			v.EndSnapshot(0, nil, &n)
			if c.also != nil {
				v.Deliver(0, c.also, &n)
			}
			v.Deliver(0, &record.Entry{
				Kind: record.KindLease, Peer: b, Revision: 8, Form: record.FormRecord,
				Lease: record.Lease{V: 1, Session: 3, State: record.Closed},
			}, &n)
			if c.booked {
				v.Book(0, b, 9, &n)
			}
			for at := time.Duration(0); at < Tombstone(longest); at += time.Second {
				v.Sweep(record.Instant(at))
				if !v.Dead(b, 3) {
					t.Fatalf("not known to be dead %v after its end", at)
				}
			}
			for at := Tombstone(longest); at <= Tombstone(longest)+longest; at += time.Second {
				v.Sweep(record.Instant(at))
			}
			if known := v.Peer(b) != nil; known != c.stays {
				t.Errorf("known after its tombstone has left: %t, want %t", known, c.stays)
			}
		})
	}
}

// TestATombstoneThatHasLeft: a watch without the tombstone that was seen tells of nothing that was
// lost: nobody waits for a lease that is absent because its session ended. A lease that was live is
// waited for, and what a later watch shows again counts again.
func TestATombstoneThatHasLeft(t *testing.T) {
	self, role := record.Peer{Class: record.Candidate, Instance: "a"}, "r"
	for state, form := range map[record.LeaseState]record.Form{
		record.Closed: record.FormNone, record.Killed: record.FormNone, record.Live: record.FormMissing,
	} {
		v := New[none, none](time.Minute)
		var n News[none, none]
		own := v.Own(self)
		v.BeginWatch(Watch{}, record.Peer{})
		v.EndSnapshot(0, nil, &n)
		lease := &record.Entry{
			Kind: record.KindLease, Peer: self, Revision: 8, Form: record.FormRecord,
			Lease: record.Lease{V: 1, Session: 3, Nonce: "n", TTLms: 1000, State: state},
		}
		v.Deliver(0, lease, &n)
		v.BeginWatch(Watch{Known: 8}, record.Peer{})
		v.Deliver(1, &record.Entry{Kind: record.KindRole, Name: role, Revision: 9, Form: record.FormMarker}, &n)
		v.EndSnapshot(1, nil, &n)
		if own.Form != form || (v.unread > 0) != (state == record.Live) {
			t.Errorf("%s: form %d, leases that are gone are waited for until %v", state, own.Form, v.unread)
		}
		v.Deliver(2, lease, &n)
		if own.Form != record.FormRecord || own.Lease.State != state {
			t.Errorf("%s: shown again, its form is %d, %s", state, own.Form, own.Lease.State)
		}
	}
}
