package queue

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// Kind is the name of a child that works.
const Kind = "worker"

// A worker does one of these with a task.
const (
	Nothing = "nothing" // counts it
	Note    = "note"    // tells when it begins
	Hold    = "hold"    // tells when it begins, and holds it until it is told what to return, whatever its context says
)

// Process configures a worker.
type Process struct {
	Peer string
	Config
	Do string
}

// Run is the event of a task that begins: Of is its id.
const Run = "run"

// Serve is the life of a child that works.
func Serve(ctx context.Context, text json.RawMessage, l *proc.Line) (proc.Calls, error) {
	var p Process
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	peer, err := ByName(p.Peer)
	if err != nil {
		return nil, err
	}
	var ran atomic.Int64
	var result atomic.Pointer[string]
	finish := make(chan struct{})
	h := func(_ context.Context, id string) (string, error) {
		ran.Add(1)
		switch p.Do {
		case Note:
			l.Tell(Run, id)
		case Hold:
			l.Tell(Run, id)
			<-finish
			return *result.Load(), nil
		}
		return "", nil
	}
	if err := peer.Work(ctx, p.Config, h); err != nil {
		return nil, err
	}
	return proc.Calls{
		"ran": func(context.Context, json.RawMessage) (any, error) { return ran.Load(), nil },
		"finish": func(_ context.Context, args json.RawMessage) (any, error) {
			var with string
			if err := json.Unmarshal(args, &with); err != nil {
				return nil, err
			}
			result.Store(&with)
			close(finish)
			return nil, nil
		},
	}, nil
}
