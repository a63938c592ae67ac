package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

var (
	// member is the kind of the members: a number comes in, and its square goes out.
	member = assign.NewKind[int, int]("square.v1", assign.MaxAttempts(3))
	// completion is the kind of the task that runs after all members. It returns how they have ended.
	completion = assign.NewKind[assign.GroupRef, assign.GroupStatus]("squares.v1")
)

// fails says which members fail for good: one in a hundred.
func fails(n int) bool { return n%100 == 99 }

var errHundredth = errors.New("every hundredth member fails")

// square is the handler of the members. Each takes as long as work says.
func square(work time.Duration) func(context.Context, *assign.Task[int]) (int, error) {
	return func(ctx context.Context, t *assign.Task[int]) (int, error) {
		select {
		case <-time.After(work):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		ran.Add(1)
		return squared(t)
	}
}

func squared(t *assign.Task[int]) (int, error) {
	if fails(t.Input) {
		return 0, assign.Permanent(fmt.Errorf("%d: %w", t.Input, errHundredth))
	}
	return t.Input * t.Input, nil
}

// ran counts the members that have run in this process.
var ran atomic.Int64

// complete is the handler of the completion. The line that it writes is counted by the process that
// has started this one.
func complete(a *assign.Assigner) func(context.Context, *assign.Task[assign.GroupRef]) (assign.GroupStatus, error) {
	return func(ctx context.Context, t *assign.Task[assign.GroupRef]) (assign.GroupStatus, error) {
		fmt.Println(completionLine)
		return t.Input.Status(ctx, a)
	}
}
