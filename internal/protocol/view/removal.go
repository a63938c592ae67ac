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
)

// Removal tells whether the record of r may be removed, as seen at now: it was vacated in order,
// and has been so for the longest lease time, and nobody wants it. by is the member that keeps it;
// until is when a recent vacancy is old enough.
func (v *View[P, R]) Removal(now record.Instant, r *Role[P, R]) (why Removal, by string, until record.Instant) {
	switch {
	case r.Form != record.FormRecord || !r.Role.Vacant:
		return RemovalLed, r.Role.ID, 0
	case r.Role.Forced:
		return RemovalForced, r.Role.By, 0
	}
	for _, p := range r.Candidates {
		if p.Belongs() {
			return RemovalWanted, p.Peer.Instance, 0
		}
	}
	if until = r.Seen.Add(v.MaxTTL); now < until {
		return RemovalRecent, r.Role.By, until
	}
	return Removable, "", 0
}
