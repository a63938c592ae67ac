package electionsim

import (
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// trace keeps the last lines of what happened, unformatted until somebody wants to read them.
type trace struct {
	lines []traceLine
	next  int
}

type traceLine struct {
	at   time.Duration
	p    *process
	life int
	tag  string
	what any
}

const traceLength = 3000 // lines

func (t *trace) add(at time.Duration, p *process, tag string, what any) {
	l := traceLine{at: at, p: p, tag: tag, what: what}
	if p != nil {
		l.life = p.life
	}
	if len(t.lines) < traceLength {
		t.lines = append(t.lines, l)
		return
	}
	t.lines[t.next] = l
	t.next = (t.next + 1) % traceLength
}

// String is the tail of the schedule, one line for each event and effect.
func (t *trace) String() string {
	var b strings.Builder
	for i := range t.lines {
		l := t.lines[(t.next+i)%len(t.lines)]
		who := "store"
		if l.p != nil {
			who = fmt.Sprintf("%s/%d.%d", l.p.instance, l.p.slot, l.life)
		}
		fmt.Fprintf(&b, "%12v %-8s %-6s %s\n", l.at, who, l.tag, show(l.what))
	}
	return b.String()
}

func show(what any) string {
	switch x := what.(type) {
	case string:
		return x
	case protocol.Delivered:
		return showEntry(x.Entry)
	case *record.Entry:
		return showEntry(x)
	case protocol.Write:
		if x.GuardKey != "" {
			return fmt.Sprintf("write #%d %s guarded by %s@%d", x.ID, x.Key, x.GuardKey, x.GuardRevision)
		}
		return fmt.Sprintf("write #%d %s over %d: %s", x.ID, x.Key, x.Expect, x.Value)
	case protocol.WriteTogether:
		var b strings.Builder
		fmt.Fprintf(&b, "write #%d together:", x.ID)
		for _, w := range x.Writes {
			fmt.Fprintf(&b, "\n\t%s", show(w))
		}
		return b.String()
	case *commit:
		return x.String()
	case arrival:
		return x.String()
	case Fault:
		return fmt.Sprintf("%v role %d for %v", x.Kind, x.Role, x.For)
	}
	return fmt.Sprintf("%T%+v", what, what)
}

func showEntry(e *record.Entry) string {
	form := [...]string{"none", "record", "marker", "missing", "garbage", "newer"}[e.Form]
	switch {
	case e.Form != record.FormRecord:
		return fmt.Sprintf("%v %s%s @%d is a %s", e.Kind, e.Peer.Instance, e.Name, e.Revision, form)
	case e.Kind == record.KindIdle:
		return fmt.Sprintf("idle %s @%d on %d %s beat %d ttl %d", e.Peer.Instance, e.Revision, e.Idle.Lease, e.Idle.Nonce,
			e.Idle.Beat, e.Idle.TTLms)
	case e.Kind == record.KindLease:
		l := e.Lease
		return fmt.Sprintf("lease %s @%d session %d %s beat %d %s ttl %d", e.Peer.Instance, e.Revision, l.Session, l.Nonce,
			l.Beat, l.State, l.TTLms)
	case e.Kind == record.KindMember:
		return fmt.Sprintf("member %s @%d %s", e.Peer.Instance, e.Revision, record.Encode(e.Member))
	case e.Kind == record.KindRole:
		return fmt.Sprintf("role %s @%d %s", e.Name, e.Revision, record.Encode(e.Role))
	}
	return fmt.Sprintf("other @%d", e.Revision)
}
