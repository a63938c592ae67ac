package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// inventory is a kind of task that recurs. The leader of the scheduler role submits it every
// second, and the second is part of the task's id. So each second has one task, and a fail-over
// leaves none out. Its priority puts it before all tasks that wait: a late count says nothing about
// the second that asked for it.
var inventory = assign.NewKind[inventoryIn, inventoryOut]("inventory.v1",
	assign.Priority(100), assign.Retention(10*time.Minute))

type inventoryIn struct{ Dir string }

// inventoryOut is what a tree holds at one moment.
type inventoryOut struct {
	Files int
	Bytes int64
}

// takeInventory is the handler. It leaves out files that it cannot read.
func takeInventory(_ context.Context, t *assign.Task[inventoryIn]) (out inventoryOut, err error) {
	err = filepath.WalkDir(t.Input.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == t.Input.Dir:
			return err
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				out.Files++
				out.Bytes += info.Size()
			}
		}
		return nil
	})
	return out, err
}

// BeginInventory lets the task recur. The seconds of a fail-over are caught up.
func (s *submitter) BeginInventory(ctx context.Context, dir string) error {
	err := assign.Recur(ctx, s.client, inventory, s.inventoryName(), "@every 1s", inventoryIn{dir},
		assign.CatchUp(assign.CatchUpAll))
	if err != nil {
		return fmt.Errorf("begin the inventory: %w", err)
	}
	return nil
}

// EndInventory ends that.
func (s *submitter) EndInventory(ctx context.Context) error {
	if err := assign.RemoveRecurrence(ctx, s.client, s.inventoryName()); err != nil {
		return fmt.Errorf("end the inventory: %w", err)
	}
	return nil
}

// Inventories lists the tasks of the recurrence, by the second of each. The list may hold a task
// that ends meanwhile twice, first open and then ended: the second entry counts.
func (s *submitter) Inventories(ctx context.Context) (map[time.Time]assign.State, error) {
	prefix := "cron/" + s.inventoryName() + "/"
	states := map[time.Time]assign.State{}
	for cursor := ""; ; {
		page, err := assign.List(ctx, s.client, assign.ListOptions{Prefix: prefix, Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("list the inventory: %w", err)
		}
		for _, task := range page.Tasks {
			second, err := time.Parse("20060102T150405Z", strings.TrimPrefix(task.ID, prefix))
			if err != nil {
				return nil, fmt.Errorf("id of an inventory: %w", err)
			}
			states[second] = task.State
		}
		if cursor = page.Next; cursor == "" {
			return states, nil
		}
	}
}

func (s *submitter) inventoryName() string { return "inventory-" + s.run }
