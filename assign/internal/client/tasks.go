package client

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// found is the record of a task, with revision 0 if there is none. An open member of a bundle has
// the record that it would have if it were alone, at the revision of the bundle.
type found struct {
	natskv.Entry
	// place is the revision of what stands at q.<task>. It is 0 for an open member: there is nothing
	// until its outcome is stored. So this is the condition for writes about the open task.
	place uint64
}

// blocksAtOnce is how many blocks of ids are searched at once, each for one bundle after the other.
const blocksAtOnce = 4

// task reads the record of a task. A record at q.<task> is the truth about the task, also if it is
// a marker. If there is none, the task may be an open member of a bundle, or may have ended between
// the two readings.
//
// In a cluster the answers may come from servers that lag. So that there is no record proves as
// little as with look.
func (c *Client) task(ctx context.Context, l *line, id string) (found, error) {
	t, absent, err := c.atPlace(ctx, l, id)
	if err != nil || !absent {
		return t, err
	}
	e, _, err := c.member(ctx, l, id)
	if err != nil || e.Revision > 0 {
		return found{Entry: e}, err
	}
	t, _, err = c.atPlace(ctx, l, id)
	return t, err
}

// atPlace reads what stands at q.<task>. It reports whether that is nothing and the task may be a
// member of a bundle.
func (c *Client) atPlace(ctx context.Context, l *line, id string) (t found, absent bool, err error) {
	e, err := c.look(ctx, l, record.QueueKey+id)
	if err == nil && e.Revision == 0 {
		_, _, absent = bundles.Split(id)
	}
	return found{e, e.Revision}, absent, err
}

// takeFunc takes the record of the task at a place in a list of ids, or the reason why it cannot be
// read. It must not keep the data: they are a part of a bundle. An error ends the reading.
type takeFunc func(i int, t found, err error) error

// tasks is task for several, which reads each bundle once. It gives each task to take once, from
// several goroutines, unless take ends the reading.
func (c *Client) tasks(ctx context.Context, l *line, ids []string, take takeFunc) error {
	absent := make([]bool, len(ids))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(lookedUpAtOnce)
	for i, id := range ids {
		group.Go(func() error {
			t, nothing, err := c.atPlace(within, l, id)
			if absent[i] = nothing; nothing {
				return nil
			}
			return take(i, t, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	blocks := map[string][]int{} // places in ids
	for i, id := range ids {
		if absent[i] {
			block, _, _ := bundles.Split(id)
			blocks[block] = append(blocks[block], i)
		}
	}
	group, within = errgroup.WithContext(ctx)
	group.SetLimit(blocksAtOnce)
	for block, places := range blocks {
		group.Go(func() error { return c.tasksOf(within, l, block, ids, places, take) })
	}
	return group.Wait()
}

// tasksOf is tasks for those of one block of ids, of which none has a record of its own.
func (c *Client) tasksOf(ctx context.Context, l *line, block string, ids []string, places []int,
	take takeFunc,
) error {
	indexes, taken := make([]int, len(places)), make([]bool, len(places))
	for n, i := range places {
		_, indexes[n], _ = bundles.Split(ids[i])
	}
	var stopped error
	_, err := c.members(ctx, l, block, indexes, func(n int, e natskv.Entry) error {
		taken[n] = true
		stopped = take(places[n], found{Entry: e}, nil)
		return stopped
	})
	for n, i := range places {
		if stopped != nil {
			break
		}
		if taken[n] {
			continue
		}
		t, failed := found{}, err
		if failed == nil { // it may have ended since the first look
			t, _, failed = c.atPlace(ctx, l, ids[i])
		}
		stopped = take(i, t, failed)
	}
	return stopped
}
