package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Removal is why the record of a role may not be removed, or that it may.
type Removal uint8

const (
	Removable     Removal = iota
	RemovalLed            // a session holds it, or somebody may lead it: its record is gone or cannot be read
	RemovalForced         // it was vacated by force: its former leader may not know yet
	RemovalRecent         // it was vacated less than the longest lease time ago
	RemovalWanted         // a live member takes part in it
	// RemovalEnded: it may be, since the session that holds it has ended, or its lease is gone for
	// the longest lease time. It is to be deleted like one that may be led: a process that wants it
	// later waits.
	RemovalEnded
)

// Removal tells whether the record of r may be removed, as seen at now: it was vacated, and has
// been so for the longest lease time, or the session that holds it has ended; and nobody wants it.
// by is the member that keeps it, or has led it; until is when the time is over.
func (v *View[P, R]) Removal(now record.Instant, r *Role[P, R]) (why Removal, by string, until record.Instant) {
	gone, held := v.goneAt(r)
	switch {
	case r.Form != record.FormRecord || held && gone == Never:
		return RemovalLed, r.Role.ID, 0
	}
	for _, p := range r.Candidates {
		if p.Belongs() {
			return RemovalWanted, p.Peer.Instance, 0
		}
	}
	switch until = r.Seen.Add(v.MaxTTL); {
	case held && now < gone:
		return RemovalLed, r.Role.ID, gone
	case held:
		return RemovalEnded, r.Role.ID, 0
	case now < until && r.Role.Forced:
		return RemovalForced, r.Role.By, until
	case now < until:
		return RemovalRecent, r.Role.By, until
	}
	return Removable, "", 0
}

// goneAt is from when on nothing of the session that holds r is at work for certain: it has ended,
// or its lease is gone and has been so for the longest lease time. Never: something may be. A lease
// that is absent has been gone for longer than that: the marker that it left has gone since. held
// is false if no session holds r.
func (v *View[P, R]) goneAt(r *Role[P, R]) (at record.Instant, held bool) {
	if !r.Held() {
		return Never, false
	}
	if since, dead := v.DeadSince(r); dead {
		return since, true
	}
	switch p := v.peers[r.Role.Holder()]; p.Form {
	case record.FormMarker, record.FormMissing:
		return p.Seen.Add(v.MaxTTL), true
	case record.FormNone:
		if since, complete := v.CompleteSince(); complete {
			return since, true
		}
	}
	return Never, true
}
