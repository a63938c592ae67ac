package main

import (
	"context"
	"os"
	"os/exec"

	"github.com/rolemanager/rolemanager/examples/multi-role/internal/stage"
)

// main puts the program on the stage, which starts NATS, three instances and a worker, does its
// harm to them, and reports what came of it. A program of yours calls runInstance, or runWorker,
// with a config of its own.
func main() { os.Exit(stage.Run(os.Args[1:], os.Stdout, os.Stderr, app{})) }

// app is what the stage knows about this program. The other files know nothing about the stage.
type app struct{}

func (app) Instance(ctx context.Context, c stage.Config) error { return runInstance(ctx, config(c)) }

func (app) Worker(ctx context.Context, c stage.Config) error { return runWorker(ctx, config(c)) }

func (app) Guard(ctx context.Context, url string, worker *exec.Cmd) (int, error) {
	return guardWorker(ctx, url, worker)
}

func (app) Submitter(c stage.Job) (stage.Submitter, error) {
	s, err := newSubmitter(c.Conn, c.Namespace, c.Replicas, c.Run)
	if err != nil {
		return nil, err
	}
	s.rate, s.log = c.Rate, c.Log
	return submission{s}, nil
}

// submission is a submitter of this program, with the types of the stage.
type submission struct{ *submitter }

func (s submission) Submit(ctx context.Context, files []stage.File, ended func(stage.Outcome)) {
	own := make([]file, len(files))
	for i, f := range files {
		own[i] = file(f)
	}
	s.submit(ctx, own, func(o outcome) {
		ended(stage.Outcome{
			Rel: o.file.Rel, SHA256: o.out.SHA256, Size: o.out.Size,
			Task: o.task, Attempts: o.attempts, Cancelled: o.cancelled, Err: o.err,
		})
	})
}
