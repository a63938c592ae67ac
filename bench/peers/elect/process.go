package elect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// Kind is the name of a child that contends.
const Kind = "candidate"

// Process configures one: instances that contend over one store, each with a connection of its own.
type Process struct {
	Peer      string
	Addr      string
	TTL       time.Duration
	Drain     time.Duration
	Instances []string
	// Watch asks each instance once in a millisecond whether it leads role-0, and tells when the
	// answer changes.
	Watch bool
}

// RoleName is the name of a role by its number.
func RoleName(n int) string { return fmt.Sprint("role-", n) }

// Stand contends for the roles From ≤ n < To.
type Stand struct{ From, To int }

// Resign gives up one role of one instance.
type Resign struct{ Instance, Role string }

// Serve is the life of a child that contends.
func Serve(ctx context.Context, text json.RawMessage, l *proc.Line) (proc.Calls, error) {
	var p Process
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	peer, err := ByName(p.Peer)
	if err != nil {
		return nil, err
	}
	all := map[string]Candidate{}
	for _, name := range p.Instances {
		w := Work{
			Drain: p.Drain, Tell: func(what, role string) { l.Tell(what, role+" "+name) },
			Dead: func(at time.Time) { l.TellAt(proc.Now()-int64(time.Since(at)), Dead, "session "+name) },
		}
		c, err := peer.Open(ctx, Config{Addr: p.Addr, Instance: name, TTL: p.TTL}, w)
		if err != nil {
			return nil, fmt.Errorf("%s opens: %w", name, err)
		}
		all[name] = c
		if p.Watch {
			go watch(c, name, l) // for as long as the process lives
		}
	}
	return proc.Calls{
		"stand": func(ctx context.Context, args json.RawMessage) (any, error) {
			var s Stand
			if err := json.Unmarshal(args, &s); err != nil {
				return nil, err
			}
			g := errgroup.Group{}
			g.SetLimit(64) // requests that are under way
			for _, c := range all {
				for n := s.From; n < s.To; n++ {
					g.Go(func() error { return c.Stand(ctx, RoleName(n)) })
				}
			}
			return nil, g.Wait()
		},
		"resign": func(ctx context.Context, args json.RawMessage) (any, error) {
			var r Resign
			if err := json.Unmarshal(args, &r); err != nil {
				return nil, err
			}
			c := all[r.Instance]
			if c == nil {
				return nil, fmt.Errorf("no instance %q", r.Instance)
			}
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			return nil, c.Resign(ctx, r.Role)
		},
		"leader": func(context.Context, json.RawMessage) (any, error) {
			for _, c := range all {
				if guard, is := c.(interface{ Leader() int }); is {
					return guard.Leader(), nil
				}
			}
			return 0, nil
		},
		"rejoin": func(ctx context.Context, args json.RawMessage) (any, error) {
			var r Resign
			if err := json.Unmarshal(args, &r); err != nil {
				return nil, err
			}
			return nil, all[r.Instance].Stand(ctx, r.Role)
		},
	}, nil
}

func watch(c Candidate, name string, l *proc.Line) {
	role, before := RoleName(0), false
	for range time.Tick(time.Millisecond) {
		asked := proc.Now() // an answer that takes long says nothing of the time in between
		now := c.Leads(role)
		if now == before {
			continue
		}
		before = now
		if now {
			l.TellAt(asked, Believes, role+" "+name)
		} else {
			l.TellAt(asked, Doubts, role+" "+name)
		}
	}
}
