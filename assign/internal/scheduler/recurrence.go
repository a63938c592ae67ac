package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// recurrence reads a definition.
func (l *scheduler) recurrence(name string, e *natskv.Entry) (*tasks.Recurrence, error) {
	d, err := record.ReadDefinition(name, e, int64(l.out.MaxPayload()))
	if err != nil {
		return nil, err
	}
	how, err := l.policies.of(d.TaskHeader)
	if err != nil {
		return nil, err
	}
	return d.With(name, how.policy), nil
}
