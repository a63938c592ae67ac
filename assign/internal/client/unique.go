package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// storeUnique is store for a task with a unique key. The record of the key, which names the task
// that has it, and the submission are written in one step: both or neither, each under its own
// condition.
//
//	u.<digest>  is as this client knows it: absent, empty, or of a task that has ended
//	q.<task>    is absent
//
// Invariant: of all open tasks of a kind, at most one has a key. Each writer of u replaces a
// revision of it at which no open task had the key, and the server lets one writer do so.
//
// The present records are read first. Most keys are free, or belong to a task that is found at
// once, and a batch is expensive on a stream of one replica (it takes the server some
// milliseconds).
//
// When the answer is lost, the records are read again. If the two writes were stored, our task is
// there. If not, they are sent again, under conditions that hold now. If the first ones come late,
// the revision of the key has moved, and they are refused.
func (c *Client) storeUnique(ctx context.Context, l *line, s *Submission, op natskv.Write,
	own bool,
) (at string, err error) {
	value, err := json.Marshal(record.Unique{Version: 1, Task: s.ID, Kind: s.Kind, Key: s.Unique})
	if err != nil {
		return "", err
	}
	key := natskv.Write{Key: record.UniqueKey + s.Keys.Unique, Value: value}
	pace := newPace()
	pace.InitialInterval = 10 * time.Millisecond
	for tries := 0; ; tries++ {
		var last error
		if at, key.Expect, last = c.standing(ctx, l, s, own && tries == 0); last == nil {
			switch {
			case at == s.ID && own:
				return "", nil
			case at != "":
				return at, nil
			}
			r, err := c.write(ctx, l, key, op)
			if err != nil || r.Outcome == natskv.Won {
				return "", err
			}
			last = r.Err
		} else if natskv.Permanent(last) || errors.Is(last, record.ErrRecord) || errors.Is(last, taskerr.ErrOtherKind) {
			return "", last
		}
		if err := c.pause(ctx, pace); err != nil {
			return "", errors.Join(err, last)
		}
	}
}

// standing says what is in the way of a unique submission. at is the task to return instead, or "".
// expect is then the revision at which the key's record may be replaced. The id of a fresh task
// cannot be there.
func (c *Client) standing(ctx context.Context, l *line, s *Submission,
	fresh bool,
) (at string, expect uint64, err error) {
	if !fresh {
		e, err := c.look(ctx, l, record.QueueKey+s.ID)
		switch {
		case err != nil:
			return "", 0, err
		case e.Marker: // it was deleted a moment ago
			return "", 0, errDeleted
		case e.Revision > 0:
			return s.ID, 0, sameKind(s.ID, s.Kind, kindOf(&e))
		}
	}
	return c.holder(ctx, l, s.Keys.Unique)
}

// holder is the open task that has a unique key, or "" and the revision at which the key's record
// may be replaced.
//
// The answers may come from a server that lags. If a record is there at a revision, that was true
// once. The end of the task is believed only of a record behind that of the key. Its absence is
// believed only of a server that knows the key's record.
func (c *Client) holder(ctx context.Context, l *line, digest string) (id string, expect uint64, err error) {
	key, err := c.look(ctx, l, record.UniqueKey+digest)
	if err != nil || len(key.Value) == 0 {
		return "", key.Revision, err
	}
	u, err := record.DecodeUnique(key.Value)
	if err != nil { // somebody else wrote it: it is never replaced
		return "", 0, fmt.Errorf("unique key %s: %w", digest, err)
	}
	task, err := c.look(ctx, l, record.QueueKey+u.Task)
	if err != nil {
		return "", 0, err
	}
	if task.Revision == 0 {
		gone, err := c.absent(ctx, l, record.QueueKey+u.Task, key.Revision+1) // it was stored right behind its key
		if err == nil && !gone {
			err = errLags
		}
		return "", key.Revision, err
	}
	if len(task.Header[record.HeaderOutcome]) == 0 {
		if keys, err := record.ParseKeys(record.First(task.Header[record.HeaderKeys])); err == nil && keys != nil &&
			keys.Unique == digest {
			return u.Task, 0, nil
		}
	}
	if task.Revision < key.Revision {
		return "", 0, errLags
	}
	return "", key.Revision, nil // it has ended, or its id now belongs to another task
}
