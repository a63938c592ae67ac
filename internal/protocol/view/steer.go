package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// steer is what an operator has told about a zone or a role.
type steer struct {
	revision uint64
	gen      uint32
	seen     record.Instant
	rec      record.Steer // zero: nothing stands
}

// Steered is what an operator has told about "zone.<zone>" or "role.<role>", zero for nothing. A
// record that cannot be read tells nothing.
func (v *View[P, R]) Steered(name string) record.Steer {
	if s := v.steers[name]; s != nil {
		return s.rec
	}
	return record.Steer{}
}

// SteeredAt is the revision of the last that is known there, and whether it tells anything.
func (v *View[P, R]) SteeredAt(name string) (revision uint64, stands bool) {
	if s := v.steers[name]; s != nil {
		return s.revision, s.rec != record.Steer{}
	}
	return 0, false
}

// Told calls do for all that operators have told, in no order, with since when it is seen.
func (v *View[P, R]) Told(do func(name string, rec *record.Steer, seen record.Instant)) {
	for name, s := range v.steers {
		if s.rec != (record.Steer{}) {
			do(name, &s.rec, s.seen)
		}
	}
}

func (v *View[P, R]) mergeSteer(now record.Instant, e *record.Entry, n *News[P, R]) {
	s := v.steers[e.Name]
	v.last = max(v.last, e.Revision)
	switch {
	case s != nil && e.Revision < s.revision:
		return
	case s == nil: // of a marker too: who writes there next has to name its revision
		s = &steer{}
		if v.steers == nil {
			v.steers = map[string]*steer{}
		}
		v.steers[e.Name] = s
	}
	if e.Revision != s.revision {
		s.seen = now
	}
	s.revision, s.gen, s.rec = e.Revision, v.gen, e.Steer
	v.ignored(e, record.SteerKey(e.Name), n)
	n.Steered = append(n.Steered, e.Name)
}

// dropSteers drops what a whole snapshot does not hold.
func (v *View[P, R]) dropSteers(n *News[P, R]) {
	for name, s := range v.steers {
		if s.gen < v.gen && s.revision <= max(v.delivered, v.reaches) {
			delete(v.steers, name)
			n.Steered = append(n.Steered, name)
		}
	}
}
