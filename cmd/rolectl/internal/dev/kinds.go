package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// Kinds of tasks that the built-in worker runs.
const (
	kindEcho  = "echo"
	kindSleep = "sleep"
)

// echoed returns its input.
func echoed(_ context.Context, t *assign.Task[[]byte]) ([]byte, error) { return t.Input, nil }

// slept takes as long as its input says, and reports its progress.
func slept(ctx context.Context, t *assign.Task[[]byte]) ([]byte, error) {
	var text string
	err := json.Unmarshal(t.Input, &text)
	if err != nil {
		return nil, assign.Permanent(fmt.Errorf(`the input of %s is a duration, such as '"5s"': %w`, kindSleep, err))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return nil, assign.Permanent(fmt.Errorf(`%q is not a valid duration: use one such as '"5s"'`, text))
	}
	const steps = 20
	step := time.NewTicker(max(d/steps, time.Millisecond))
	defer step.Stop()
	end := time.NewTimer(d)
	defer end.Stop()
	began := time.Now()
	for {
		select {
		case <-end.C:
			return t.Input, nil
		case <-step.C:
			if err := t.Progress(ctx, float64(time.Since(began))/float64(d), nil); err != nil && ctx.Err() == nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
