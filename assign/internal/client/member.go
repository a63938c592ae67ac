package client

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// member reads the record of a task that is an open member of a bundle. The revision is 0 if the
// task is none: then stands is all that stands among the bundles of the block. Errors: also
// record.ErrRecord, for a bundle that cannot be read.
func (c *Client) member(ctx context.Context, l *line, id string) (e natskv.Entry, stands bundles.Standing, err error) {
	block, index, ok := bundles.Split(id)
	if !ok {
		return e, stands, nil
	}
	stands, err = c.members(ctx, l, block, []int{index}, func(_ int, m natskv.Entry) error {
		e = m
		e.Value = bytes.Clone(m.Value)
		return nil
	})
	return e, stands, err
}

// members looks for tasks of one block of ids in its bundles. It gives take those that are open
// members, by their places in indexes. Their data are parts of bundles, which others read. stands
// is what it has met: all that stands, unless each of the tasks is an open member.
func (c *Client) members(ctx context.Context, l *line, block string, indexes []int,
	take func(i int, e natskv.Entry) error,
) (stands bundles.Standing, err error) {
	left := make([]int, len(indexes)) // places in indexes
	for i := range left {
		left[i] = i
	}
	for from := uint64(1); len(left) > 0; {
		b, err := c.standing(ctx, l, block, from)
		if err != nil || b == nil {
			return stands, err
		}
		stands.Meets(b.is(), b.Revision)
		from = b.Revision + 1
		if !slices.ContainsFunc(left, func(i int) bool { return indexes[i] >= b.first }) {
			continue
		}
		if b.fault != nil {
			return stands, b.fault
		}
		elsewhere := func(i int) bool {
			_, here := record.MemberOf(b.members, indexes[i])
			return !here
		}
		here := slices.DeleteFunc(slices.Clone(left), elsewhere)
		if len(here) == 0 {
			continue
		}
		ended, all, err := c.ended(ctx, l, b.name, b.Revision)
		if err != nil {
			return stands, err
		}
		var taken []int
		for _, i := range here {
			place, _ := record.MemberOf(b.members, indexes[i])
			if all || ended.Has(place) {
				continue
			}
			if err := take(i, b.members[place].Alone(bundles.ID(block, indexes[i]), &b.Entry)); err != nil {
				return stands, err
			}
			taken = append(taken, i)
		}
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(taken, i) })
	}
	return stands, nil
}

// ended reads which members have ended of a bundle that was seen at a revision: all, if the bundle
// has been removed since. The record that is removed with the bundle leaves an empty one for longer
// than the bundle is remembered.
func (c *Client) ended(ctx context.Context, l *line, bundle string, of uint64) (places bundles.Set, all bool,
	err error,
) {
	key := record.EndedKey + bundle
	e, err := together(ctx, &l.seen, key, func(ctx context.Context) (natskv.Entry, error) {
		return c.look(ctx, l, key)
	}, func(natskv.Entry) bool { return false })
	switch {
	case err != nil || e.Revision < of: // there is none
		return nil, false, err
	case e.Marker || len(e.Value) == 0:
		return nil, true, nil
	}
	r, err := record.DecodeEnded(e.Value)
	if err != nil || r.Of != of {
		return nil, false, err
	}
	return r.Places, false, nil
}

// nextRecord reads the first record, from a revision on, whose key matches a filter. A missing
// record has revision 0.
func (c *Client) nextRecord(ctx context.Context, l *line, filter string, from uint64) (natskv.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	e, err := l.stream.Next(ctx, c.nc, filter, from)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return natskv.Entry{}, nil
	}
	return e, err
}
