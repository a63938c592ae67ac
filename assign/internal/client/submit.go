package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// Submit stores one task.
func (c *Client) Submit(ctx context.Context, s *Submission, data []byte) (Handle, error) {
	if s.own = s.ID == ""; s.own {
		s.ID = c.ids.next(c.takes(s, len(data)), c.roomOfBundles())
	}
	if c.around == nil {
		return c.submit(ctx, s, data)
	}
	return c.around(ctx, s, data, c.submit)
}

func (c *Client) submit(ctx context.Context, s *Submission, data []byte) (Handle, error) {
	data, err := c.sealer.Seal(sealed.Input, s.ID, data)
	if err != nil {
		return Handle{}, taskerr.Doing(err, "submit %s", s.ID)
	}
	own := s.own
	op, err := s.write(data)
	if err != nil {
		return Handle{}, err
	}
	l, err := c.readyAtLast(ctx)
	if err != nil {
		return Handle{}, taskerr.Doing(err, "submit %s", s.ID)
	}
	if most := l.most.Load() - record.Headroom; int64(len(data)) > most { // known only once there was a connection
		return Handle{}, taskerr.TooLarge("an input", len(data), most, record.StoreElsewhere)
	}
	p := Handle{id: s.ID, kind: s.Kind}
	if own {
		p.expected = c.waiters.expect(s.ID)
	}
	var at string
	if s.Unique == "" {
		at, err = c.store(ctx, l, s.Kind, op, own)
	} else {
		at, err = c.storeUnique(ctx, l, s, op, own)
	}
	if err == nil && at == "" {
		return p, nil
	}
	c.waiters.drop(s.ID, p.expected)
	if err != nil {
		return Handle{}, taskerr.Doing(c.offline(err), "submit %s", s.ID)
	}
	return Handle{id: at, kind: s.Kind, existing: true}, nil
}

// write checks a submission and makes its record.
func (s *Submission) write(data []byte) (op natskv.Write, err error) {
	switch {
	case s.Kind == "":
		return op, fmt.Errorf("%w: use NewKind or MakeKind", taskerr.ErrInvalidKind)
	case s.Fault != nil:
		return op, s.Fault
	case !naming.Valid(s.ID):
		return op, fmt.Errorf("%w: %q", taskerr.ErrInvalidID, s.ID)
	case strings.HasPrefix(s.ID, record.TickPrefix):
		return op, fmt.Errorf("%w: %q: ids that begin with %q are for the tasks of recurrences", taskerr.ErrInvalidID, s.ID,
			record.TickPrefix)
	case !s.inside && strings.HasPrefix(s.ID, groups.Prefix):
		return op, fmt.Errorf("%w: %q: ids that begin with %q are for the tasks of groups: use SubmitGroup",
			taskerr.ErrInvalidID, s.ID, groups.Prefix)
	}
	if s.Header == "" {
		if s.Header, err = s.Policy.Encode(); err != nil {
			return op, fmt.Errorf("%w: %w", taskerr.ErrInvalidOption, err) // the kind was checked when it was made
		}
	}
	h := []natskv.Field{{Name: record.HeaderTask, Value: s.Header}}
	if s.Unique != "" {
		s.Keys.Unique = record.UniqueDigest(s.Kind, s.Unique)
	}
	if s.Keys != (record.Keys{}) {
		if h, err = withJSON(h, record.HeaderKeys, "keys", s.Keys, record.MaxKeys); err != nil {
			return op, err
		}
	}
	if len(s.Meta) > 0 {
		if h, err = withJSON(h, record.HeaderMeta, "headers", s.Meta, record.MaxMeta); err != nil {
			return op, err
		}
	}
	if s.After.IDs != nil || s.After.Group > 0 {
		if h, err = withJSON(h, record.HeaderAfter, "the tasks that it waits for", s.After, record.MaxAfter); err != nil {
			return op, err
		}
	}
	if s.Trace != "" {
		h = append(h, natskv.Field{Name: record.HeaderTrace, Value: s.Trace})
	}
	return natskv.Write{Key: record.QueueKey + s.ID, Value: data, Header: h}, nil
}

// withJSON adds a record to a header. what is the submitter's word for it.
func withJSON(h []natskv.Field, name, what string, v any, most int) ([]natskv.Field, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", taskerr.ErrInvalidOption, what, err)
	}
	if len(data) > most {
		return nil, taskerr.TooLarge(what, len(data), int64(most), "shorten them, or make them part of the input")
	}
	return append(h, natskv.Field{Name: name, Value: string(data)}), nil
}
