package view

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// idleBeat is the newest beat of a session whose lease stands idle.
type idleBeat struct {
	number uint64 // 0: there was none since the lease stands
	ttl    time.Duration
	seen   record.Instant
}

// mergeIdle takes in a beat of a session whose lease stands idle. It counts only if it is of that
// session, of that revision of the lease, and later than what is known: late copies land too.
func (v *View[P, R]) mergeIdle(now record.Instant, e *record.Entry) {
	v.last = max(v.last, e.Revision)
	p := v.peers[e.Peer]
	if p == nil || !p.idles() || e.Form != record.FormRecord || e.Idle.Nonce != p.Lease.Nonce ||
		e.Idle.Lease != p.Revision || e.Idle.Beat <= p.beat.number {
		return
	}
	p.beat = idleBeat{e.Idle.Beat, e.Idle.TTL(), now}
	p.LastTTL, p.lived = p.beat.ttl, now
}

// setLease puts what stands at the lease of p. The beats of the former one say nothing about it.
func (v *View[P, R]) setLease(p *Peer[P, R], form record.Form, l record.Lease) {
	counts := p != v.self && p.Peer.Class == record.Candidate
	if counts && p.idles() {
		v.idlers--
	}
	p.Form, p.Lease, p.beat = form, l, idleBeat{}
	if counts && p.idles() {
		v.idlers++
	}
}

func (p *Peer[P, R]) idles() bool { return p.Form == record.FormRecord && p.Lease.State == record.Idle }

// Idlers counts the other candidates whose lease stands idle.
func (v *View[P, R]) Idlers() int { return v.idlers }

// IdleBeat is the number of the last beat of p that is known since its lease stands idle, 0 for
// none.
func (p *Peer[P, R]) IdleBeat() uint64 { return p.beat.number }

// Still is since when p has given no sign of life, and for how long it may be silent; told is
// whether the present watch would have shown one. The beats of an idle session are not on its
// lease, so a watch that does not show them tells nothing about it.
func (v *View[P, R]) Still(p *Peer[P, R]) (since record.Instant, ttl time.Duration, told bool) {
	if !p.idles() {
		return p.Seen, p.Lease.TTL(), true
	}
	if ttl = p.Lease.TTL(); p.beat.number > 0 {
		ttl = p.beat.ttl
	}
	since = max(p.Seen, p.beat.seen)
	if v.whole && (v.wide || v.ownIdle && p == v.self) {
		return max(since, v.wholeSince), ttl, true
	}
	return since, ttl, false
}

// Sign is when p was last seen to live. Of an idle session only a watch that shows its beats tells
// more than since when it is idle.
func (v *View[P, R]) Sign(p *Peer[P, R]) record.Instant { return max(p.Seen, p.beat.seen) }

// Active reports whether the lease of p declares a session that is not known to be silent for
// longer than it may be, as seen at now.
func (v *View[P, R]) Active(now record.Instant, p *Peer[P, R]) bool {
	if p.Form != record.FormRecord || !p.Lease.Alive() {
		return false
	}
	since, ttl, told := v.Still(p)
	return !told || now.Sub(since) < ttl
}

// Heard reports whether p is active by what the present watch shows.
func (v *View[P, R]) Heard(now record.Instant, p *Peer[P, R]) bool {
	_, _, told := v.Still(p)
	return told && v.Active(now, p)
}
