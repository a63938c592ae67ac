package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// refusals decides which messages of workers are refused, and reports each.
type refusals struct {
	*term
	emit func(event.Event)
}

// misattributed returns why a message cannot be the sender's own. It returns "" if it can.
func misattributed(err error, own bool) string {
	switch {
	case err != nil:
		return record.Malformed
	case !own:
		return tasks.Foreign.String()
	}
	return ""
}

// misdirected returns why a worker's message is not for the scheduler that we are: another one may
// know later attempts than we do, or we may know later ones. It returns "" if the message is for
// us.
func (r *refusals) misdirected(err error, epoch uint64, own bool) string {
	switch {
	case err != nil || !own:
		return misattributed(err, own)
	case epoch < r.rules.Term():
		return tasks.StaleEpoch.String()
	case epoch > r.epoch:
		return record.UnknownEpoch
	}
	return ""
}

// refuse reports a message that was not handled. An honest sender repeats it, or sends it to the
// right scheduler.
func (r *refusals) refuse(instance, reason string) {
	r.emit(event.TaskRejected{Meta: r.host.Meta(), Namespace: r.cfg.Namespace, Worker: instance, Reason: reason})
}
