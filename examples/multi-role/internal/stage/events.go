package stage

import (
	"errors"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// Observe makes a demo an event.Sink of its instances: it shows a person the events that are not
// routine.
func (d *demo) Observe(e event.Event) {
	switch e := e.(type) {
	case event.SessionLost:
		d.screen.say(yellow, "%s has lost its session: %v", e.Instance, e.Cause)
	case event.RoleDemoted:
		if !errors.Is(e.Cause, election.ErrClosed) {
			d.screen.say(plain, "%s lost leadership of %s: %s", e.Instance, e.Role, e.Reason)
		}
	case event.TaskRecovered:
		d.adopted.Add(int64(e.Adopted))
		d.screen.say(plain, "%s hands out tasks: %d are open; %d of them run already and are adopted, not run again",
			e.Instance, e.Open, e.Adopted)
	case event.RoleStuck:
		d.screen.say(red, "%s does not end its work as %s, %v after the end of its term", e.Instance, e.Role, e.Since)
	case event.WorkReturned:
		d.screen.say(red, "%s ended its work as %s before its term: %v", e.Instance, e.Role, e.Err)
	case event.RecordIgnored:
		d.screen.say(red, "%s cannot read %s: %s", e.Instance, e.Key, e.Reason)
	}
}
