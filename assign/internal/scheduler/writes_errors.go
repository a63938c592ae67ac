package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// fault goes on after writes of one batch that are not known to be stored, or after a single one.
func (c *commits) fault(list []commit, err error) {
	v := stream.Judge(err)
	c.batched = c.batched || stream.IsConflict(err)
	switch {
	case v == stream.Denied:
		c.l.fail(taskerr.Permission(err))
	case v == stream.Uncertain, list[0].op.Key == record.SealKey: // the books try a seal again by themselves, ever more slowly
		switch {
		case v == stream.NoRoom:
			c.full(err)
		case v == stream.Never:
			c.trouble(fmt.Errorf("%w: the seal: %w", taskerr.ErrUnstorable, err))
		case natskv.Permanent(err) && !errors.Is(err, natskv.ErrClosed):
			c.trouble(fmt.Errorf("assign: %w", err))
		}
		for i := range list {
			c.over(&list[i], protocol.Unknown, 0)
		}
	case len(list) > 1:
		c.halve(list)
	case v == stream.NoRoom:
		c.starve(&list[0], err)
	case v == stream.Never:
		c.refuse(&list[0], err)
	default:
		c.over(&list[0], protocol.Unknown, 0)
	}
}

// halve tries a batch again in two: one of its writes is the cause that none is stored.
func (c *commits) halve(list []commit) {
	c.most = len(list) / 2
	c.queue = append(slices.Clone(list), c.queue...)
}

// refuse gives up a write that the server does not take.
func (c *commits) refuse(w *commit, err error) {
	if w.lean != nil {
		again := *w
		again.op, again.lean = *w.lean, nil
		if c.batched || w.also != nil {
			c.queue = append([]commit{again}, c.queue...)
		} else {
			c.swap(again.op, again)
		}
		return
	}
	what, id := recordOf(w.op.Key)
	c.l.emit(event.Fault{
		Meta: c.l.h.Meta(), Doing: "store the " + what + " of " + id, Err: fmt.Errorf("%w: %d bytes: %w", taskerr.ErrUnstorable, w.size(), err), Attempts: 1,
	})
	if what == "checkpoint" {
		c.l.checkpointsBelow(len(w.op.Value))
	}
	text := fmt.Sprintf("the %s of %d bytes cannot be stored: %v", what, w.size(), err)
	c.l.step(tasks.Unstorable{Write: w.number, Body: &tasks.Finding{Data: record.EncodeFailure(text, "")}})
}

// recordOf is what people call a record, and what it belongs to.
func recordOf(key string) (what, id string) {
	family, name := key[:min(2, len(key))], key[min(2, len(key)):]
	switch family {
	case record.QueueKey:
		if strings.HasPrefix(name, record.TickPrefix) {
			return "submission or outcome", "task " + name
		}
		return "outcome", "task " + name
	case record.NoteKey:
		return "note", "task " + name
	case record.CheckpointKey:
		return "checkpoint", "task " + name
	case record.CancelKey:
		return "request to cancel", "task " + name
	case record.TickKey:
		return "last tick", "recurrence " + name
	case record.UniqueKey:
		return "unique key", name
	}
	return "record", key
}
