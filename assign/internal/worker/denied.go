package worker

import (
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// denied takes a complaint of the server about what only a worker does. That a report is denied would be known to nobody
// else: its tasks seem to run for ever. Who may not listen any more holds what no scheduler can ask for, or stop: its session
// ends, and the next one offers nothing before it may.
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
