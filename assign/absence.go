package assign

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// absence reports when nobody hands out the tasks of a namespace.
type absence struct {
	namespace, role string

	led    atomic.Bool // Lead was called
	reason string      // why nobody hands out, as last reported; used by watch's goroutine only
}

// watch waits for the end of a lease. Meanwhile it reports when nobody hands out the tasks, once
// for each reason.
func (a *absence) watch(ctx context.Context, h lease) {
	patience := h.Config().TTL / 2
	look := time.NewTicker(patience)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		reason := a.find(h, patience)
		if reason != "" && reason != a.reason {
			h.Emit(event.SchedulerMissing{Meta: h.Meta(), Namespace: a.namespace, Role: a.role, Reason: reason})
		}
		a.reason = reason
	}
}

// find is why nobody has handed out the tasks for the time of patience, "" while somebody does.
func (a *absence) find(h lease, patience time.Duration) string {
	role, known := h.Role(a.role)
	takesPart := func(m election.MemberInfo) bool { return slices.Contains(m.Roles, a.role) }
	switch {
	case known && role.Since < patience:
		return ""
	case role.Leader == "" && !h.Config().WorkerOnly && !slices.ContainsFunc(h.Members(), takesPart):
		return event.SchedulerNoCandidate
	case role.Leader == "":
		return event.SchedulerNoLeader
	case role.Session == h.Session() && !a.led.Load():
		return event.SchedulerOtherLead
	}
	return ""
}
