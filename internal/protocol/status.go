package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

// RoleStatus is where this machine stands in one role.
type RoleStatus struct {
	Known     bool // the machine takes part in it
	Open      bool // the session is open
	Leading   bool
	Ending    bool // a term has ended and is not history yet
	Stuck     bool
	Eligible  bool
	Paused    bool
	Unhealthy bool
	Cooling   bool
	Cause     Cause  // of the term that is ending
	Barred    Cause  // why it may not lead it, whatever else; 0: it may
	Outside   bool   // of the zones that are the only ones
	WaitsFor  string // what it depends on, while that does not last
	Epoch     uint64
	Absent    bool // it has no record, and none was seen
}

// Status tells where this machine stands in a role.
func (m *Machine) Status(name string) RoleStatus {
	r := m.part(name)
	s := RoleStatus{Open: m.phase == open}
	if r == nil {
		return s
	}
	s.Known, s.Eligible, s.Paused, s.Unhealthy = true, r.advertised, r.paused, r.unhealthy
	s.Barred, s.Outside = r.barred, r.barred == ZoneDrained && r.tier == zone.Last
	s.WaitsFor = r.waitsFor()
	s.Absent = r.Form == record.FormNone
	s.Cooling = r.coolUntil > m.now.Observer
	if t := r.term; t != nil {
		s.Leading, s.Ending, s.Stuck, s.Cause, s.Epoch = t.leading(), !t.leading(), t.stuck && !t.drained, t.cause, t.epoch
	}
	return s
}

// OpensIn is for how long yet a session is waited for that stands at our own lease and is not one
// of this process, unless it gives a sign of life. The nonce tells one such lease from another. ok
// is false while none is waited for.
func (m *Machine) OpensIn(now record.Now) (left time.Duration, nonce string, ok bool) {
	if !m.mayKill(m.self) {
		return 0, "", false
	}
	_, due := m.killDue(m.self)
	if due == view.Never { // the watch that shows its beats is still to come
		return 0, "", false
	}
	return max(due.Sub(now.Observer), 0), m.self.Lease.Nonce, true
}

// AbsentIn is for how long yet no role is claimed that has no record, since the bucket was
// adopted.
func (m *Machine) AbsentIn(now record.Now) time.Duration {
	since, ok := m.view.CompleteSince()
	if !ok || !m.cfg.Adopted {
		return 0
	}
	return max(since.Add(m.cfg.MaxTTL).Sub(now.Observer), 0)
}

// Self is our own slot in the view.
func (m *Machine) Self() *PeerView { return m.self }

// exclusion is why we would not lead a role that we take part in, as others are told it. A pause
// for all and what the role waits for stand elsewhere in the bucket.
type exclusion uint8

const (
	outNot   exclusion = iota
	outStuck           // the work of the last term does not return
	outZone
	outPaused
	outUnhealthy
	outCooling
)

var exclusions = [...]string{
	"", "its work does not return", "its zone is drained", "paused", "unhealthy", "cooling down",
}

func (a exclusion) String() string { return exclusions[a] }

// exclusion is why we would not lead the role now.
func (r *role) exclusion(now record.Instant) exclusion {
	switch {
	case r.term != nil && r.term.stuck && !r.term.drained:
		return outStuck
	case r.barred == ZoneDrained:
		return outZone
	case r.paused:
		return outPaused
	case r.unhealthy:
		return outUnhealthy
	case r.barred == 0 && r.condition.lasts() && now < r.coolUntil:
		return outCooling
	}
	return outNot
}

// advertise has our member record say whether we would lead a role, and if not, why. It is written
// again only when that changes.
func (m *Machine) advertise(r *role, eligible bool) {
	out := outNot
	if !eligible {
		out = r.exclusion(m.now.Observer)
	}
	if eligible == r.advertised && out == r.out {
		return
	}
	r.advertised, r.out = eligible, out
	if now := m.now.Observer; !eligible && m.spread.promises.Holds(now, r.Name) { // we take it no more
		m.spread.promises.End(r.Name)
		m.madeRoom()
	}
	m.touchMember()
}
