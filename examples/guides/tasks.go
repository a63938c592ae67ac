package guides

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
)

// resize is a kind of task. Its options travel with each submission.
var resize = assign.NewKind[string, int]("resize.v1",
	assign.MaxAttempts(3),
	assign.Timeout(time.Minute),
	assign.Backoff(time.Second, time.Minute),
)

// submit needs a connection and no session. The same id again is the same task.
func submit(ctx context.Context, nc *nats.Conn, image string) (width int, err error) {
	client, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "images"})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	task, err := assign.Submit(ctx, client, resize, image, assign.WithID("resize-"+image), assign.WithDeadline(time.Hour))
	if err != nil {
		return 0, err
	}
	return task.Wait(ctx)
}

var (
	errNoImage = errors.New("no such image")
	errLimit   = errors.New("the image service has a limit")
)

// resizeImage is a handler: its error decides what happens next.
func resizeImage(ctx context.Context, t *assign.Task[string]) (int, error) {
	err := load(ctx, t.Input)
	switch {
	case errors.Is(err, errNoImage):
		return 0, assign.Permanent(err) // dead at once
	case errors.Is(err, errLimit):
		return 0, assign.RetryAfter(10*time.Second, err) // counts as a failed attempt
	case err != nil:
		return 0, err // tried again with back-off
	}
	return len(t.Input), nil
}

func load(ctx context.Context, image string) error {
	switch image {
	case "":
		return errNoImage
	case "busy":
		return errLimit
	}
	return ctx.Err()
}

// countTo saves a checkpoint after each step. The next attempt continues from there.
func countTo(ctx context.Context, t *assign.Task[int]) (int, error) {
	done := 0
	if saved := t.Checkpoint(); saved != nil {
		var err error
		if done, err = strconv.Atoi(string(saved)); err != nil {
			return 0, assign.Permanent(err)
		}
	}
	for ; done < t.Input; done++ {
		if err := t.Progress(ctx, float64(done)/float64(t.Input), []byte(strconv.Itoa(done))); err != nil {
			return 0, fmt.Errorf("save a checkpoint: %w", err)
		}
	}
	return done, nil
}
