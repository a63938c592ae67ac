package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// recurrence reads a definition. The input of the recurrence must fit into a message of maxPayload
// bytes.
func (c *policies) recurrence(name string, e *natskv.Entry, maxPayload int) (*tasks.Recurrence, error) {
	d, err := record.ReadDefinition(name, e, int64(maxPayload))
	if err != nil {
		return nil, err
	}
	how, err := c.of(d.TaskHeader)
	if err != nil {
		return nil, err
	}
	return d.With(name, how.policy), nil
}
