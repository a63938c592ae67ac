package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// errLags says that a server has answered that lags behind: it is asked again.
var errLags = errors.New("the answer of a server that lags")

// storeUnique is store for a task with a unique key. The record of the key, which names the task that has it, and the
// submission are written as one: both or neither, each under a condition of its own.
//
//	u.<digest>  is as we know it: absent, empty, or of a task that has ended
//	q.<task>    is absent
//
// Invariant: of all open tasks of a kind, one at most has a key. Whoever writes u replaces a revision of it at which nobody
// open had the key, and the server lets one of them do so.
//
// When the answer is lost the same two writes are sent again under the same conditions. If the first ones have been stored,
// these are refused, and what stands says so: our task's record is there.
func (c *Client) storeUnique(ctx context.Context, l *line, s *submission, op natskv.Write, own bool) (at string, err error) {
	value, err := json.Marshal(uniqueRecord{Version: 1, Task: s.id, Kind: s.kind, Key: s.unique})
	if err != nil {
		return "", err
	}
	key := natskv.Write{Key: uniqueKey + s.keys.Unique, Value: value}
	pace := newPace()
	for {
		r, err := c.write(ctx, l, key, op)
		if err != nil {
			return "", err
		}
		last := r.Err
		switch r.Outcome {
		case natskv.Won:
			return "", nil
		case natskv.Refused:
			at, expect, err := c.standing(ctx, l, s)
			switch {
			case err == nil && at == s.id && own:
				return "", nil
			case err == nil && at != "":
				return at, nil
			case err == nil && expect != key.Expect:
				key.Expect = expect
				continue // at once: every turn of this kind has seen another revision
			case err != nil && natskv.Permanent(err), errors.Is(err, errRecord):
				return "", err
			}
			last = err
		}
		if err := c.pause(ctx, pace); err != nil {
			return "", errors.Join(err, last)
		}
	}
}

// standing says why a unique submission was refused: at is the task to be returned, or expect what the record of the key may
// be replaced at.
func (c *Client) standing(ctx context.Context, l *line, s *submission) (at string, expect uint64, err error) {
	if e, err := c.look(ctx, l, queueKey+s.id); err != nil || e.Revision > 0 {
		return s.id, 0, err
	}
	return c.holder(ctx, l, s.keys.Unique)
}

// holder is the open task that has a unique key, or "" and the revision at which the key's record may be replaced.
//
// What is read may come from a server that lags. That a record is there at a revision was true once; that the task has
// ended is believed only of a record behind that of the key, and that it is gone only of a server that knows the key's.
func (c *Client) holder(ctx context.Context, l *line, digest string) (id string, expect uint64, err error) {
	key, err := c.look(ctx, l, uniqueKey+digest)
	if err != nil || len(key.Value) == 0 {
		return "", key.Revision, err
	}
	u, err := decodeUnique(key.Value)
	if err != nil { // written by somebody else: never written over
		return "", 0, fmt.Errorf("unique key %s: %w", digest, err)
	}
	task, err := c.look(ctx, l, queueKey+u.Task)
	if err != nil {
		return "", 0, err
	}
	if task.Revision == 0 {
		gone, err := c.absent(ctx, l, queueKey+u.Task, key.Revision+1) // it was stored right behind its key
		if err == nil && !gone {
			err = errLags
		}
		return "", key.Revision, err
	}
	if len(task.Header[headerOutcome]) == 0 {
		if keys, err := parseKeys(first(task.Header[headerKeys])); err == nil && keys != nil && keys.Unique == digest {
			return u.Task, 0, nil
		}
	}
	if task.Revision < key.Revision {
		return "", 0, errLags
	}
	return "", key.Revision, nil // it has ended, or its id is another task's by now
}

// look reads a record; one that is not there has revision 0.
func (c *Client) look(ctx context.Context, l *line, key string) (natskv.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	e, err := l.stream.Get(ctx, c.nc, key)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return natskv.Entry{}, nil
	}
	return e, err
}

func (c *Client) absent(ctx context.Context, l *line, key string, after uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	return l.stream.Absent(ctx, c.nc, key, after)
}
