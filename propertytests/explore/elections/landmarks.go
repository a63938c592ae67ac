package elections

import "github.com/rolemanager/rolemanager/internal/protocol"

// What a search of elections is to come by.
const (
	killedSession  = iota // somebody has ended a session of another one
	laterTerm             // a role has changed hands since the search began
	deposedWork           // a term's work still runs, and the role is another one's
	overtakenWrite        // a write is on its way whose condition does not hold any more
)

// Landmarks are the names of these.
func (*Model) Landmarks() []string {
	return []string{"with a killed session", "with a later term", "with work of a deposed leader", "with an overtaken write"}
}

// At says which of them a world has.
func (x *Model) At(w World) (at uint32) {
	for _, c := range w.bucket.standing {
		if c.entry.Kind == protocol.KindLease && c.entry.Form == formRecord && c.entry.Lease.State == protocol.Killed {
			at |= 1 << killedSession
		}
	}
	for r, epoch := range w.bucket.granted[:x.cfg.Roles] {
		if epoch > x.begun[r] {
			at |= 1 << laterTerm
		}
		for _, p := range w.procs[:x.cfg.Members] {
			if k := p.work[r]; k.runs() && k.epoch < epoch {
				at |= 1 << deposedWork
			}
		}
	}
	for _, wire := range w.wires[:x.cfg.Members] {
		for _, f := range wire.flights {
			if onWay := f.stage <= orphan; onWay && w.bucket.revision(f.letter.on) != f.letter.at {
				at |= 1 << overtakenWrite
			}
		}
	}
	return at
}
