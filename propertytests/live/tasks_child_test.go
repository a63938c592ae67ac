package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// These make this binary a process that schedules and runs tasks, when it is started with -test.run
// of TestTasksChild: on those servers, under that name, writing what it does into that file.
const (
	taskChildURL  = "ROLEMANAGER_TASKS_CHILD_URL"
	taskChildName = "ROLEMANAGER_TASKS_CHILD_NAME"
	taskChildFile = "ROLEMANAGER_TASKS_CHILD_FILE"
)

const (
	taskChildTTL   = 3 * time.Second
	taskChildrenNS = "children"
)

// diary is a file that outlives its process, however that ends: each line is one write to the
// system.
type diary struct {
	mu   sync.Mutex
	file *os.File
}

func (d *diary) line(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := fmt.Fprintf(d.file, format+"\n", args...); err != nil {
		panic(err) // without it the test would prove nothing
	}
}

// TestTasksChild is not a test: TestTasksProcessesOnCluster starts it.
func TestTasksChild(t *testing.T) {
	url := os.Getenv(taskChildURL)
	if url == "" {
		t.Skip("it is a process of another test")
	}
	name := os.Getenv(taskChildName)
	file, err := os.OpenFile(os.Getenv(taskChildFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := taskChild(url, name, &diary{file: file}); err != nil {
		t.Fatal(err)
	}
}

func taskChild(url, name string, d *diary) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(100*time.Millisecond), nats.PingInterval(time.Second))
	if err != nil {
		return err
	}
	defer nc.Close()
	s, err := election.NewSession(election.SessionConfig{
		Bucket: taskChildrenNS, InstanceID: name, TTL: taskChildTTL,
		Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
			switch e := e.(type) {
			case event.SessionLost:
				d.line("lost %d %d", e.Session, time.Now().UnixNano())
			case event.RolePromoted:
				d.line("leads %d", e.Epoch)
			case event.TaskRecovered:
				d.line("recovered %d %d", e.Open, e.Adopted)
			}
		})},
	})
	if err != nil {
		return err
	}
	a, err := assign.New(s, assign.Config{Namespace: taskChildrenNS, Role: tasks.Role, Slots: 8, CrashBudget: 100})
	if err != nil {
		return err
	}
	err = assign.Handle(a, tasks.Plain, func(ctx context.Context, t *assign.Task[tasks.Order]) (string, error) {
		f := t.Fence()
		saved := 0
		if len(t.Checkpoint()) > 0 {
			if _, err := fmt.Sscan(string(t.Checkpoint()), &saved); err != nil {
				return "", assign.Permanent(err)
			}
		}
		d.line("begin %s %d %d %d %d %d", t.ID(), f.Epoch, f.Seq, bridge.Number(s), saved, time.Now().UnixNano())
		how, err := "succeeded", d.execute(ctx, t, saved)
		switch {
		case ctx.Err() != nil && err != nil:
			how = "stopped"
		case err != nil:
			how = "failed"
		}
		d.line("end %s %d %d %s %d", t.ID(), f.Epoch, f.Seq, how, time.Now().UnixNano())
		return tasks.Output(t.ID(), f.Epoch, f.Seq), err
	})
	if err != nil {
		return err
	}
	e, err := s.Campaign(election.RoleConfig{Role: tasks.Role, Lead: a.Lead})
	if err != nil {
		return err
	}
	if err := e.Start(context.Background()); err != nil {
		return err
	}
	return runChild(ctx, s, nc, d)
}

// execute does what an order says about its length, its checkpoints, which count on from what the
// attempt was given, and how many attempts fail.
func (d *diary) execute(ctx context.Context, t *assign.Task[tasks.Order], saved int) error {
	o := t.Input
	for step := range o.Steps + 1 {
		select {
		case <-time.After(o.Run / time.Duration(o.Steps+1)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if step == o.Steps {
			break
		}
		saved++
		if err := t.Progress(ctx, 0.5, fmt.Append(nil, saved)); err == nil {
			d.line("saved %s %d %d", t.ID(), saved, time.Now().UnixNano())
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if t.Attempt() <= o.Fail {
		return errOrdered
	}
	return nil
}

var errOrdered = errors.New("it fails as it was ordered to")

// runChild takes part until it is told to end.
func runChild(ctx context.Context, s *election.Session, nc *nats.Conn, d *diary) error {
	if err := s.Open(ctx, nc); err != nil {
		return err
	}
	d.line("opened %d", bridge.Number(s))
	<-ctx.Done()
	within, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.Close(within)
}
