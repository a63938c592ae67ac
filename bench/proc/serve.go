//go:build linux

package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
)

// Calls are what a child answers, by name. Each runs in a goroutine of its own.
type Calls map[string]func(ctx context.Context, args json.RawMessage) (any, error)

// Kind is one kind of child: it sets itself up and returns what it answers.
type Kind func(ctx context.Context, config json.RawMessage, l *Line) (Calls, error)

// Line is how a child speaks to its parent.
type Line struct {
	mu  sync.Mutex
	out *json.Encoder
}

// Tell reports an event that happens now.
func (l *Line) Tell(what, of string) { l.TellAt(Now(), what, of) }

// TellAt reports an event that happened at a time of the shared clock.
func (l *Line) TellAt(at int64, what, of string) {
	l.send(line{Event: &Event{What: what, Of: of, At: at}})
}

func (l *Line) send(v line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Encode(v); err != nil {
		os.Exit(1) // the parent is gone
	}
}

// Serve is the life of a child, if this process is one; else it returns at once. It never returns
// in a child.
func Serve(kinds map[string]Kind) {
	kind := os.Getenv(kindEnv)
	if kind == "" {
		return
	}
	if err := serve(kinds[kind]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", kind, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(kind Kind) error {
	if kind == nil {
		return fmt.Errorf("no such kind of child")
	}
	out := os.Stdout
	os.Stdout = os.Stderr // what libraries print must not get between the lines
	l := &Line{out: json.NewEncoder(out)}
	ctx := context.Background() // the process's: it ends by exiting
	calls, err := kind(ctx, json.RawMessage(os.Getenv(configEnv)), l)
	if err != nil {
		return err
	}
	l.send(line{Event: &Event{What: "ready", At: Now()}})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c call
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return fmt.Errorf("read a call: %w", err)
		}
		go l.answer(ctx, calls, c) // joined by the exit: a call that hangs must not keep the others waiting
	}
	return in.Err()
}

func (l *Line) answer(ctx context.Context, calls Calls, c call) {
	var v any
	var err error
	switch f, ok := calls[c.Name]; {
	case c.Name == "usage":
		v, err = Used()
	case c.Name == "pid":
		v = os.Getpid()
	case c.Name == "memory":
		v = memory()
	case c.Name == "profile":
		err = profile(c.Args)
	case c.Name == "profiled":
		pprof.StopCPUProfile()
	case ok:
		v, err = f(ctx, c.Args)
	default:
		err = fmt.Errorf("no call %s", c.Name)
	}
	reply := line{ID: c.ID}
	if err != nil {
		reply.Fault = err.Error()
	} else if reply.Reply, err = json.Marshal(v); err != nil {
		reply.Fault = err.Error()
	}
	l.send(reply)
}
