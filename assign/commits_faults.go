package assign

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// verdict is what an error says of a write that is not known to be stored. All but the first say that it is not.
type verdict uint8

const (
	uncertain verdict = iota // it may be stored
	torn                     // the server has not got the whole batch: one of its writes was denied
	noRoom                   // the stream is full
	never                    // the server does not take it as it is, and will not another time
	denied                   // we are not allowed to
)

// Error codes of the JetStream API (nats-server, errors.json).
const (
	codeAccountFull     = 10002
	codeServerFull      = 10023
	codeMemoryFull      = 10028
	codeStorageFull     = 10047
	codeTooLarge        = 10054
	codeStoreFailed     = 10077 // it says why
	codeHeaderTooLarge  = 10097
	codeWriteInFlight   = 10164
	codeInvalidTTL      = 10165
	codeIncompleteBatch = 10176
)

func judge(err error) verdict {
	api := (*jetstream.APIError)(nil)
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		return denied
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, natskv.ErrInvalidKey):
		return never
	case !errors.As(err, &api):
		return uncertain
	}
	switch api.ErrorCode {
	case codeTooLarge, codeHeaderTooLarge, codeInvalidTTL:
		return never
	case codeAccountFull, codeServerFull, codeMemoryFull, codeStorageFull:
		return noRoom
	case codeIncompleteBatch:
		return torn
	case codeStoreFailed:
		switch {
		case strings.Contains(api.Description, "too large"):
			return never
		case strings.Contains(api.Description, "maximum"): // messages, or bytes, exceeded
			return noRoom
		}
	}
	return uncertain
}

// isConflict reports whether a write was refused since another one is in flight under the same condition. Only replicas do that: when
// ours are pipelined, the stream has been given them since we lead.
func isConflict(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.ErrorCode == codeWriteInFlight
}

// fault goes on after writes of one batch that are not known to be stored, or after a single one.
func (c *commits) fault(list []commit, err error) {
	v := judge(err)
	c.batched = c.batched || isConflict(err)
	switch {
	case v == denied:
		c.l.fail(&permissionError{err})
	case v == uncertain, list[0].op.Key == sealKey: // the books try a seal again by themselves, ever more slowly
		switch {
		case v == noRoom:
			c.full(err)
		case v == never:
			c.trouble(fmt.Errorf("%w: the seal: %w", ErrUnstorable, err))
		case natskv.Permanent(err) && !errors.Is(err, natskv.ErrClosed):
			c.trouble(fmt.Errorf("assign: %w", err))
		}
		for i := range list {
			c.over(&list[i], protocol.Unknown, 0)
		}
	case len(list) > 1:
		c.halve(list)
	case v == noRoom:
		c.starve(&list[0], err)
	case v == never:
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
		Meta: c.l.h.Meta(), Doing: "store the " + what + " of " + id, Err: fmt.Errorf("%w: %d bytes: %w", ErrUnstorable, w.size(), err), Attempts: 1,
	})
	if what == "checkpoint" {
		c.l.checkpointsBelow(len(w.op.Value))
	}
	text := fmt.Sprintf("the %s of %d bytes cannot be stored: %v", what, w.size(), err)
	c.l.step(tasks.Unstorable{Write: w.number, Body: &tasks.Finding{Data: encodeFailure(text, "")}})
}

// recordOf is what people call a record, and what it belongs to.
func recordOf(key string) (what, id string) {
	family, name := key[:min(2, len(key))], key[min(2, len(key)):]
	switch family {
	case queueKey:
		if strings.HasPrefix(name, tickPrefix) {
			return "submission or outcome", "task " + name
		}
		return "outcome", "task " + name
	case noteKey:
		return "note", "task " + name
	case checkpointKey:
		return "checkpoint", "task " + name
	case cancelKey:
		return "request to cancel", "task " + name
	case tickKey:
		return "last tick", "recurrence " + name
	case uniqueKey:
		return "unique key", name
	}
	return "record", key
}
