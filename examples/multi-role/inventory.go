package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// inventory is a kind of task that nobody submits: it recurs. Whoever leads the scheduler role fires it, every second, and
// the tick is part of the task's id: so each tick is one task, whoever leads when, and none is left out by a fail-over.
// It goes before all that waits: what is counted when the last file is hashed says nothing of the second that asked for it.
var inventory = assign.NewKind[inventoryIn, inventoryOut]("inventory.v1", assign.Priority(100), assign.Retention(10*time.Minute))

type inventoryIn struct{ Dir string }

// inventoryOut is what a tree holds at one moment.
type inventoryOut struct {
	Files int
	Bytes int64
}

const inventorySpec = "@every 1s"

// count is the handler.
func count(_ context.Context, t *assign.Task[inventoryIn]) (out inventoryOut, err error) {
	files, _, err := walk(t.Input.Dir)
	for _, f := range files {
		out.Bytes += f.size
	}
	out.Files = len(files)
	return out, err
}

// recurring is the inventory of one run.
type recurring struct {
	client *assign.Client
	name   string
	dir    string
}

func (r recurring) begin(ctx context.Context) error {
	err := assign.Recur(ctx, r.client, inventory, r.name, inventorySpec, inventoryIn{r.dir}, assign.OnMissed(assign.RunAll))
	if err != nil {
		return fmt.Errorf("begin the inventory: %w", err)
	}
	return nil
}

func (r recurring) end(ctx context.Context) error {
	if err := assign.Unrecur(ctx, r.client, r.name); err != nil {
		return fmt.Errorf("end the inventory: %w", err)
	}
	return nil
}

// ticks is what became of the inventory.
type ticks struct {
	Fired   int `json:"fired"`   // tasks that have succeeded, each for another second
	Left    int `json:"left"`    // tasks that have not
	Missing int `json:"missing"` // seconds between the first and the last without a task
}

// sum counts the ticks in the stream.
func (r recurring) sum(ctx context.Context) (t ticks, err error) {
	seconds := map[int64]assign.State{} // a task that ends meanwhile is listed twice: open, and ended
	prefix := "cron/" + r.name + "/"
	for page := (assign.ListPage{}); ; {
		page, err = assign.List(ctx, r.client, assign.ListOptions{Prefix: prefix, Cursor: page.Next})
		if err != nil {
			return t, fmt.Errorf("list the inventory: %w", err)
		}
		for _, task := range page.Tasks {
			at, err := time.Parse("20060102T150405Z", strings.TrimPrefix(task.ID, prefix))
			if err != nil {
				return t, fmt.Errorf("id of a tick: %w", err)
			}
			seconds[at.Unix()] = task.State
		}
		if page.Next == "" {
			break
		}
	}
	for _, state := range seconds {
		if state == assign.StateSucceeded {
			t.Fired++
		} else {
			t.Left++
		}
	}
	all := slices.Sorted(maps.Keys(seconds))
	for i := 1; i < len(all); i++ {
		t.Missing += int(all[i]-all[i-1]) - 1
	}
	return t, nil
}
