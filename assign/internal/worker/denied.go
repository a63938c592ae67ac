package worker

import (
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// denied handles a complaint of the server about a permission that only a worker needs. Nobody else
// would notice that a report is denied: its tasks would seem to run for ever. A worker that may not
// listen any more holds tasks that no scheduler can ask about or stop. So its session ends, and the
// next one offers nothing until it may listen.
func (s *worker) denied(d *natskv.PermissionError) {
	me := s.h.Instance()
	mine := d.Subject == s.sub.Report(me)
	if d.Subscribe {
		mine = d.Subject == s.outbox.inbox+"*" || d.Subject == s.sub.Assign(me) || d.Subject == s.sub.Cancel(me) ||
			d.Subject == s.sub.Sync(me)
	}
	if mine {
		s.h.Emit(event.Fault{Meta: s.meta(), Doing: "work for " + s.cfg.Namespace, Err: taskerr.Permission(d), Attempts: 1})
	}
	if mine && d.Subscribe {
		s.h.End("the worker may not listen to " + d.Subject)
	}
}
