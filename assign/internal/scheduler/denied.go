package scheduler

import (
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// denials handles the server's reports that this connection lacks a permission.
type denials struct {
	*term
	emit func(event.Event)
	fail func(error) // ends the term
}

// handle ends the term if the scheduler cannot work without the permission: another candidate may
// have it. A worker that cannot be reached is only a fault, since others can. So is a client, since
// clients read.
func (n *denials) handle(d *natskv.PermissionError) {
	key, ours := strings.CutPrefix(d.Subject, n.subjects.Prefix)
	switch {
	case d.Subscribe:
		if d.Subject == n.inbox+">" || d.Subject == n.subjects.Report(">") || d.Subject == n.subjects.Ctl() {
			n.fail(taskerr.Permission(d))
		}
	case d.Subject == "$JS.API.STREAM.MSG.GET."+n.stream.Name(): // inputs are read through it
		n.fail(taskerr.Permission(d))
	case !ours:
	case key == record.SealKey, strings.HasPrefix(key, record.NoteKey), strings.HasPrefix(key, record.CheckpointKey),
		strings.HasPrefix(key, record.TickKey),
		strings.HasPrefix(key, record.QueueKey+record.TickPrefix):
		n.fail(taskerr.Permission(d))
	case strings.HasPrefix(key, "work."), strings.HasPrefix(key, "event."), strings.HasPrefix(key, "done."):
		n.emit(event.Fault{Meta: n.host.Meta(), Doing: "send to " + d.Subject, Err: taskerr.Permission(d), Attempts: 1})
	}
}
