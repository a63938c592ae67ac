package protocol

import "github.com/rolemanager/rolemanager/internal/protocol/zone"

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
	s.Cooling = r.coolUntil > m.now.Observer
	if t := r.term; t != nil {
		s.Leading, s.Ending, s.Stuck, s.Cause, s.Epoch = t.leading(), !t.leading(), t.stuck && !t.drained, t.cause, t.epoch
	}
	return s
}

// Self is our own slot in the view.
func (m *Machine) Self() *PeerView { return m.self }
