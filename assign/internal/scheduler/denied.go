package scheduler

import (
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// denied takes a complaint of the server. What only this scheduler does, and cannot do without, ends the term: another
// candidate may be allowed to. A worker that cannot be reached is a fault: others can. So is a client: it reads.
func (l *scheduler) denied(d *natskv.PermissionError) {
	key, ours := strings.CutPrefix(d.Subject, l.sub.Prefix)
	switch {
	case d.Subscribe:
		if d.Subject == l.inbox+">" || d.Subject == l.sub.Report(">") || d.Subject == l.sub.Ctl() {
			l.fail(taskerr.Permission(d))
		}
	case d.Subject == "$JS.API.STREAM.MSG.GET."+l.stream.Name(): // by which inputs are read
		l.fail(taskerr.Permission(d))
	case !ours:
	case key == record.SealKey, strings.HasPrefix(key, record.NoteKey), strings.HasPrefix(key, record.CheckpointKey), strings.HasPrefix(key, record.TickKey),
		strings.HasPrefix(key, record.QueueKey+record.TickPrefix):
		l.fail(taskerr.Permission(d))
	case strings.HasPrefix(key, "work."), strings.HasPrefix(key, "event."), strings.HasPrefix(key, "done."):
		l.emit(event.Fault{Meta: l.h.Meta(), Doing: "send to " + d.Subject, Err: taskerr.Permission(d), Attempts: 1})
	}
}
