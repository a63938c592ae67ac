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
// clients read. Tasks and bundles are written by clients of this process, too: of a scheduler the
// answer to its write tells, see writeQueue.unknown.
func (n *denials) handle(d *natskv.PermissionError) {
	key, reads := n.stream.Concerns(d)
	switch {
	case d.Subscribe:
		if d.Subject == n.inbox+">" || d.Subject == n.work.Report(">") || d.Subject == n.talk.Ctl() {
			n.fail(taskerr.Permission(d))
		}
	case reads: // inputs
		n.fail(taskerr.Permission(d))
	case key == record.SealKey, strings.HasPrefix(key, record.NoteKey), strings.HasPrefix(key, record.CheckpointKey),
		strings.HasPrefix(key, record.EndedKey),
		strings.HasPrefix(key, record.TickKey), strings.HasPrefix(key, record.TallyKey),
		strings.HasPrefix(key, record.QueueKey+record.TickPrefix):
		n.fail(taskerr.Permission(d))
	case strings.HasPrefix(key, record.BundleKey): // by a client of this process, which has other ways
		n.emit(event.Fault{Meta: n.host.Meta(), Doing: "store or remove a bundle", Err: taskerr.Permission(d), Attempts: 1})
	case n.work.Sends(d.Subject), n.talk.Sends(d.Subject):
		n.emit(event.Fault{Meta: n.host.Meta(), Doing: "send to " + d.Subject, Err: taskerr.Permission(d), Attempts: 1})
	}
}
