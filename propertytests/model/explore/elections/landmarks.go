package elections

import (
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// A search of elections has to pass these states.
const (
	killedSession  = iota // somebody has ended a session of another one since the search began
	otherLeader           // a role is held by another session than when the search began
	deposedWork           // a term's work still runs, and since the search began the role was given to another one
	overtakenWrite        // a write is on its way whose condition does not hold any more
	balanced              // since the search began a role was given away for the sake of balance
)

// Landmarks are the names of these. Only a search of spread roles has to pass the last one.
func (x *Model) Landmarks() []string {
	all := []string{
		"with a killed session", "with another leader", "with work of a deposed leader",
		"with an overtaken write",
	}
	if x.cfg.Spread {
		all = append(all, "with a role that is moved for the sake of balance")
	}
	return all
}

// At says which of them a world has.
func (x *Model) At(w World) (at uint32) {
	for _, c := range w.bucket.standing {
		e := c.entry
		switch {
		case e.Form != formRecord || e.Revision <= x.begun.last:
		case e.Kind == record.KindLease && e.Lease.State == record.Killed:
			at |= 1 << killedSession
		case e.Kind == record.KindRole && !e.Role.Vacant && x.led(c.key) &&
			e.Role.Session != x.begun.newest(c.key).entry.Role.Session:
			at |= 1 << otherLeader
		case e.Kind == record.KindRole && e.Role.Vacant && e.Role.Reason == protocol.Balanced.String():
			at |= 1 << balanced
		}
	}
	for r, epoch := range w.bucket.granted[:x.cfg.Roles] {
		for _, p := range w.procs[:x.cfg.Members] {
			if k := p.work[r]; k.runs() && k.epoch < epoch && epoch > x.begun.granted[r] {
				at |= 1 << deposedWork
			}
		}
	}
	for _, wire := range w.wires[:x.cfg.Members] {
		for _, f := range wire.flights {
			if f.stage <= orphan && w.bucket.revision(f.letter.on) != f.letter.at {
				at |= 1 << overtakenWrite
			}
		}
	}
	return at
}

// led reports whether a role was held when the search began.
func (x *Model) led(key string) bool {
	c := x.begun.newest(key)
	return c != nil && c.entry.Form == formRecord && !c.entry.Role.Vacant
}
