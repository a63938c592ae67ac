package electionotel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rolemanager/rolemanager/event"
)

// place is where a session takes part.
type place struct{ bucket, instance, role string }

func at(m event.Meta, role string) place { return place{m.Bucket, m.Instance, role} }

// part is what a session knows of a role that it takes part in.
type part struct {
	epoch  uint64 // of the last term that was seen, 0 for none
	leader string // whose term it was
	by     string // the instance that gave the role away, "" while nobody has
	reason string // why
	own    ended
	notes  []note // the last ones
}

// ended is an own term between its end and the next leader, zero for none.
type ended struct {
	session          uint64
	epoch            uint64
	reason           string
	at, drained, out time.Time // out is when it was given away
}

// note is something that has happened meanwhile.
type note struct {
	at         time.Time
	name       string
	attributes []attribute.KeyValue
}

// maxNotes bounds the memory of a role that nobody gets.
const maxNotes = 32

// Attributes of the events of a span.
const (
	outcomeKey = attribute.Key("rolemanager.claim.outcome")
	tookKey    = attribute.Key("rolemanager.claim.seconds")
	doingKey   = attribute.Key("rolemanager.fault.doing")
	errorKey   = attribute.Key("rolemanager.fault.error")
	victimKey  = attribute.Key("rolemanager.member")
)

func (p *part) note(at time.Time, name string, attributes ...attribute.KeyValue) {
	if len(p.notes) == maxNotes {
		p.notes = append(p.notes[:0], p.notes[1:]...)
	}
	p.notes = append(p.notes, note{at, name, attributes})
}

// noteAbout notes something about a member in all roles that it led.
func (s *Sink) noteAbout(m event.Meta, member, name string, attributes ...attribute.KeyValue) {
	for at, p := range s.parts {
		if at.bucket == m.Bucket && at.instance == m.Instance && p.leader == member {
			p.note(m.Time, name, attributes...)
		}
	}
}

// demoted begins the hand-over of an own term.
func (p *part) demoted(e event.RoleDemoted) {
	*p = part{epoch: e.Epoch, leader: e.Instance, own: ended{
		session: e.Session, epoch: e.Epoch, reason: e.Reason, at: e.Time,
	}}
}
