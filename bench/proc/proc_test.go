//go:build linux

package proc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

func TestMain(m *testing.M) {
	proc.Serve(map[string]proc.Kind{
		"echo": func(_ context.Context, config json.RawMessage, l *proc.Line) (proc.Calls, error) {
			return proc.Calls{
				"echo": func(_ context.Context, args json.RawMessage) (any, error) { return args, nil },
				"config": func(context.Context, json.RawMessage) (any, error) {
					return config, nil
				},
				"tell": func(context.Context, json.RawMessage) (any, error) {
					for _, of := range []string{"a", "b", "c"} {
						l.Tell("told", of)
					}
					return nil, nil
				},
				"fault": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no") },
				"hang":  func(context.Context, json.RawMessage) (any, error) { select {} },
			}, nil
		},
		"broken": func(context.Context, json.RawMessage, *proc.Line) (proc.Calls, error) {
			return nil, errors.New("broken")
		},
	})
	m.Run()
}

func start(t *testing.T, hear func(proc.Event)) *proc.Child {
	t.Helper()
	c, err := proc.Start("echo", map[string]int{"n": 3}, hear)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Kill() })
	return c
}

func TestCallsAreAnswered(t *testing.T) {
	c := start(t, nil)
	var said string
	if err := c.Call(t.Context(), "echo", "hello", &said); err != nil || said != "hello" {
		t.Errorf("said %q, %v", said, err)
	}
	var config map[string]int
	if err := c.Call(t.Context(), "config", nil, &config); err != nil || config["n"] != 3 {
		t.Errorf("config %v, %v", config, err)
	}
	if err := c.Call(t.Context(), "fault", nil, nil); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("a fault became %v", err)
	}
	if err := c.Call(t.Context(), "nothing", nil, nil); err == nil {
		t.Error("a call that does not exist was answered")
	}
	if m, err := c.Memory(t.Context()); err != nil || m.Heap == 0 || m.Goroutines == 0 {
		t.Errorf("memory %+v, %v", m, err)
	}
	// Its memory was counted after a collection.
	if u, err := c.Usage(t.Context()); err != nil || u.CPU <= 0 || u.Collector <= 0 {
		t.Errorf("processor time %+v, %v", u, err)
	}
}

func TestEventsAreHeardInOrder(t *testing.T) {
	heard := make(chan proc.Event, 3)
	before := proc.Now()
	c := start(t, func(e proc.Event) { heard <- e })
	if err := c.Call(t.Context(), "tell", nil, nil); err != nil { // its reply comes after them on the same line
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b", "c"} {
		e := <-heard
		if e.What != "told" || e.Of != want || e.At < before {
			t.Errorf("heard %+v, want %s", e, want)
		}
		before = e.At
	}
}

func TestKillEndsCalls(t *testing.T) {
	c := start(t, nil)
	ended := make(chan error)
	go func() { ended <- c.Call(context.Background(), "hang", nil, nil) }()
	if err := c.Call(t.Context(), "echo", 1, nil); err != nil { // the hanging one keeps nobody waiting
		t.Fatal(err)
	}
	c.Kill()
	if err := <-ended; err == nil {
		t.Error("a process that was killed has answered")
	}
	if err := c.Call(t.Context(), "echo", 1, nil); err == nil {
		t.Error("a process that is gone has answered")
	}
}

func TestPausedProcessGoesOn(t *testing.T) {
	c := start(t, nil)
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "echo", 1, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused process: %v", err)
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "echo", 1, nil); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsTheProcess(t *testing.T) {
	c := start(t, nil)
	c.Close()
	if err := c.Call(t.Context(), "echo", 1, nil); err == nil {
		t.Error("a process that is gone has answered")
	}
}

func TestBrokenKindIsAnError(t *testing.T) {
	if _, err := proc.Start("broken", nil, nil); err == nil {
		t.Error("it has started")
	}
	if _, err := proc.Start("unknown", nil, nil); err == nil {
		t.Error("it has started")
	}
}
