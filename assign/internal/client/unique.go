package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
)

const (
	// reservedFor is how long a reservation stays in the place of a task that never comes. It is
	// longer than the two writes after it may take.
	reservedFor = 4 * submitWithin

	// cautious is how many submissions look whether their key is free, after one has found a key
	// that was in use.
	cautious = 16
)

// claim carries out what package unique says, for one submission or requeue.
type claim struct {
	*Client
	l      *line
	digest string
	pace   *backoff.ExponentialBackOff
	last   error        // why it has to be tried again
	alone  bool         // something was refused, or nothing is known about it
	kind   string       // of the task that was read last
	ended  natskv.Entry // the outcome that was read last
}

func (c *Client) claim(l *line, digest string) *claim {
	pace := newPace()
	pace.InitialInterval = 10 * time.Millisecond
	return &claim{Client: c, l: l, digest: digest, pace: pace}
}

// storeUnique is store for a task with a unique key: three conditional writes, see package unique.
//
// When the answer to a write is lost, the records are read again.
func (c *Client) storeUnique(ctx context.Context, l *line, s *Submission, op natskv.Write,
	own bool,
) (at string, err error) {
	if !own {
		if at, err = c.joined(ctx, l, s.ID, s.Kind); err != nil || at != "" {
			return at, err
		}
	}
	k := c.claim(l, s.Keys.Unique)
	m := unique.NewSubmitter(s.ID, own, c.careful.Load() == 0)
	for {
		a := m.Next()
		switch a.Do {
		case unique.Stored:
			return "", nil
		case unique.Taken:
			if a.Task == s.ID {
				return a.Task, sameKind(a.Task, s.Kind, k.kind)
			}
			return a.Task, nil
		case unique.TakeKey:
			if err := k.take(ctx, a, record.Unique{Kind: s.Kind, Key: s.Unique}, &m); err != nil {
				return "", err
			}
		case unique.Store:
			op.Expect = a.Expect
			if err := k.write(ctx, op, &m); err != nil {
				return "", err
			}
		case unique.Pause:
			if err := k.retry(ctx, cmp.Or(k.last, errLags)); err != nil {
				return "", err
			}
			m.Paused()
		default:
			if err := k.step(ctx, a, &m); err != nil {
				return "", err
			}
		}
	}
}

// requeueUnique tries once to store the submission of a dead task, which replaces the outcome that
// was read.
func (c *Client) requeueUnique(ctx context.Context, l *line, id string, of record.Unique, digest string,
	op natskv.Write,
) error {
	k, m := c.claim(l, digest), unique.NewRequeuer(id, op.Expect)
	for {
		var err error
		switch a := m.Next(); a.Do {
		case unique.Stored:
			return nil
		case unique.Taken:
			return fmt.Errorf("%w: %s", taskerr.ErrKeyTaken, a.Task)
		case unique.Pause: // the outcome may be another one
			return cmp.Or(k.last, errLags)
		case unique.TakeKey:
			err = k.take(ctx, a, of, &m)
		case unique.Store:
			err = k.write(ctx, op, &m)
		default:
			err = k.step(ctx, a, &m)
		}
		if err != nil {
			return err
		}
	}
}

// machine is a unique.Submitter or a unique.Requeuer.
type machine interface {
	Key(unique.Key)
	Place(unique.Place)
	Wrote(protocolrecord.Outcome, uint64)
}

// take writes the record of the key.
func (k *claim) take(ctx context.Context, a unique.Action, of record.Unique, m machine) error {
	of.Task, of.At = a.Task, a.At
	value, err := record.EncodeUnique(of)
	if err != nil {
		return err
	}
	return k.write(ctx, natskv.Write{Key: record.UniqueKey + k.digest, Value: value, Expect: a.Expect}, m)
}

// step carries out an action that all machines have. A record that cannot be read now is read again
// after a while. It returns only errors that trying again does not cure.
func (k *claim) step(ctx context.Context, a unique.Action, m machine) error {
	switch a.Do {
	case unique.ReadKey:
		key, err := k.key(ctx)
		if err != nil {
			return k.retry(ctx, err)
		}
		m.Key(key)
	case unique.ReadPlace:
		place, err := k.place(ctx, a.Task)
		if err != nil {
			return k.retry(ctx, err)
		}
		m.Place(place)
	case unique.Reserve:
		return k.write(ctx, natskv.Write{
			Key: record.QueueKey + a.Task, Delete: true, TTL: reservedFor, Expect: a.Expect,
		}, m)
	case unique.Rewrite:
		return k.write(ctx, record.Again(&k.ended), m)
	}
	return nil
}

// retry waits before the next attempt, unless err is permanent.
func (k *claim) retry(ctx context.Context, err error) error {
	if natskv.Permanent(err) || errors.Is(err, record.ErrRecord) {
		return err
	}
	k.last = err
	if ended := k.pause(ctx, k.pace); ended != nil {
		return errors.Join(ended, err)
	}
	return nil
}

var outcomes = [...]protocolrecord.Outcome{
	natskv.Unknown: protocolrecord.Unknown, natskv.Won: protocolrecord.Won, natskv.Refused: protocolrecord.Refused,
}

// write may go together with others, as long as all goes well.
func (k *claim) write(ctx context.Context, op natskv.Write, m machine) error {
	r, err := k.writeFirst(ctx, k.l, op, true, k.alone)
	if err != nil {
		return err
	}
	if !k.alone {
		k.alone = r.Outcome != natskv.Won
		k.l.intake.found(k.alone)
	}
	k.last = r.Err
	m.Wrote(outcomes[r.Outcome], r.Revision)
	return nil
}

// key reads the record of the key. A record of somebody else's making is never replaced.
func (k *claim) key(ctx context.Context) (unique.Key, error) {
	e, err := k.look(ctx, k.l, record.UniqueKey+k.digest)
	if err != nil {
		return unique.Key{}, err
	}
	k.met(e.Revision > 0)
	if len(e.Value) == 0 {
		return unique.Key{Revision: e.Revision}, nil
	}
	u, err := record.DecodeUnique(e.Value)
	if err != nil {
		return unique.Key{}, fmt.Errorf("unique key %s: %w", k.digest, err)
	}
	return unique.Key{Revision: e.Revision, Task: u.Task, At: u.At}, nil
}

// met notes whether a key was in use, or a moment ago: then the next submissions look first, so
// that they reserve no place for nothing.
func (c *Client) met(used bool) {
	switch left := c.careful.Load(); {
	case used:
		c.careful.Store(cautious)
	case left > 0:
		c.careful.CompareAndSwap(left, left-1)
	}
}

// place reads the place of a task.
func (k *claim) place(ctx context.Context, id string) (unique.Place, error) {
	e, err := k.look(ctx, k.l, record.QueueKey+id)
	if err != nil {
		return unique.Place{}, err
	}
	p := unique.Place{Revision: e.Revision, Holds: unique.Other}
	switch {
	case e.Revision == 0 || e.Marker:
		p.Holds = unique.Nothing
	case len(e.Header[record.HeaderOutcome]) > 0:
		p.Holds, k.ended = unique.Ended, e
	default:
		if keys, err := record.ParseKeys(record.First(e.Header[record.HeaderKeys])); err == nil && keys != nil &&
			keys.Unique == k.digest {
			p.Holds = unique.Open
		}
	}
	if k.kind = ""; p.Holds != unique.Nothing {
		k.kind = kindOf(&e)
	}
	return p, nil
}
