package main

import (
	"context"
	"errors"
	"os/exec"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/guard"
)

// guardWorker runs the process of a worker, and returns its exit code. When the process has died,
// its session is ended at once, and its tasks run elsewhere. Without a guard they wait for a TTL.
// For a program that has no children of its own, rolectl guard does the same.
func guardWorker(ctx context.Context, url string, worker *exec.Cmd) (code int, err error) {
	nc, err := nats.Connect(url, nats.Name("multi-role guard"), nats.MaxReconnects(-1))
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	ended, err := guard.Run(ctx, guard.Config{Conn: nc}, worker)
	if errors.Is(err, guard.ErrUnsupported) { // on another system than Linux the TTL decides
		err = worker.Run()
		return worker.ProcessState.ExitCode(), err
	}
	for _, s := range ended.Left { // the TTL decides there, too
		err = errors.Join(err, s.Err)
	}
	return ended.Code, err
}
