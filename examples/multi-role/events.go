package main

import (
	"errors"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// Observe makes a cluster an event.Sink of its instances: of all that they report, a person is told what is not routine.
func (c *cluster) Observe(e event.Event) {
	switch e := e.(type) {
	case event.SessionLost:
		c.screen.say(yellow, "%s has lost its session: %v", e.Instance, e.Cause)
	case event.RoleDemoted:
		if !errors.Is(e.Cause, election.ErrClosed) {
			c.screen.say(plain, "%s leads %s no longer: %s", e.Instance, e.Role, e.Reason)
		}
	case event.TaskRecovered:
		c.adopted.Add(int64(e.Adopted))
		c.screen.say(plain, "%s hands out tasks: %d are open, and the %d of them that instances have already are adopted, not run again", e.Instance, e.Open, e.Adopted)
	case event.RoleStuck:
		c.screen.say(red, "%s does not end its work as %s, %v after the end of its term", e.Instance, e.Role, e.Since)
	case event.WorkReturned:
		c.screen.say(red, "%s ended its work as %s before its term: %v", e.Instance, e.Role, e.Err)
	case event.RecordIgnored:
		c.screen.say(red, "%s cannot read %s: %s", e.Instance, e.Key, e.Reason)
	}
}
