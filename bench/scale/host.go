//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

const (
	hostKind    = "host"
	rolesBucket = "roles"
)

// These are the events that a host reports. The subject is the role, or the value of the event.
const (
	began     = "began"     // the work of a term begins
	ended     = "ended"     // it has ended
	killed    = "killed"    // a session is ended that is not its own; the subject is whose
	recovered = "recovered" // a scheduler hands out; the subject is how long that took it, in nanoseconds
)

// hostConfig describes the members of a process.
type hostConfig struct {
	Addr       string
	TTL        time.Duration
	Name       string // its instances are <name>-<n>
	Members    int
	See        int  // others that each of them is to see besides these; 0: they see none
	Roles      int  // that each contends for
	WorkerOnly bool // contends for nothing
	Scheduler  bool // contends for the role that hands out tasks, and hands them out
	Slots      int  // of the worker, 0 for none
}

// waveSize is how many members that see each other begin at once; the next do when all that are
// there see all. Each begins with all records of all others, so that a thousand at once keep each
// other from holding their leases.
const waveSize = 50

// scheduled is the kind of all tasks.
var scheduled = assign.NewKind[[]byte, []byte]("scale.v1")

func roleName(n int) string { return fmt.Sprint("role-", n) }

// serveHost is the life of a process with many members.
func serveHost(ctx context.Context, text json.RawMessage, l *proc.Line) (proc.Calls, error) {
	var c hostConfig
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	all := make([]*election.Session, c.Members)
	conns := make([]*nats.Conn, c.Members)
	wave := len(all)
	if c.See > 0 {
		wave = waveSize
	}
	for from := 0; from < len(all); from += wave {
		g := errgroup.Group{}
		g.SetLimit(32) // openings under way at once
		to := min(from+wave, len(all))
		for i := from; i < to; i++ {
			g.Go(func() (err error) {
				if conns[i], err = c.connect(); err != nil {
					return err
				}
				all[i], err = c.open(ctx, conns[i], i, l)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		if c.See > 0 {
			if err := see(ctx, all[:to], to+c.See); err != nil {
				return nil, err
			}
		}
	}
	return proc.Calls{
		// heard is how many messages the members have received.
		"heard": func(context.Context, json.RawMessage) (any, error) {
			var sum uint64
			for _, nc := range conns {
				sum += nc.Stats().InMsgs
			}
			return sum, nil
		},
		// stop gives all roles of the first member up, by closing its session.
		"stop": func(ctx context.Context, _ json.RawMessage) (any, error) { return nil, all[0].Close(ctx) },
	}, nil
}

// see waits until each member sees so many. A member that does is not asked again. The others are
// asked the more rarely the longer it takes, so that the time is known to a tenth: asking all of
// them all the time costs more than joining.
func see(ctx context.Context, members []*election.Session, n int) error {
	began := time.Now()
	for i := 0; i < len(members); {
		if len(members[i].Members()) >= n {
			i++
		} else if err := pause(ctx, max(time.Since(began)/10, 2*time.Millisecond)); err != nil {
			return &waitError{fmt.Sprintf("members that see %d", n), i, len(members), err}
		}
	}
	return nil
}

func (c hostConfig) connect() (*nats.Conn, error) {
	return nats.Connect("nats://"+c.Addr, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.Timeout(30*time.Second))
}

func (c hostConfig) session(instance string, hear func(event.Event)) election.SessionConfig {
	return election.SessionConfig{
		Bucket: rolesBucket, BucketAutoCreate: true, InstanceID: instance, TTL: c.TTL, WorkerOnly: c.WorkerOnly,
		Sinks: []event.Sink{event.SinkFunc(hear)},
	}
}

func (c hostConfig) open(ctx context.Context, nc *nats.Conn, n int, l *proc.Line) (*election.Session, error) {
	s, err := election.NewSession(c.session(fmt.Sprintf("%s-%d", c.Name, n), func(e event.Event) {
		switch e := e.(type) {
		case event.TaskRecovered:
			l.Tell(recovered, fmt.Sprint(int64(e.Took)))
		case event.SessionKilled: // sinks may be behind
			l.TellAt(proc.Now()-int64(time.Since(e.Time)), killed, e.Victim)
		}
	}))
	if err != nil {
		return nil, err
	}
	var a *assign.Assigner
	if c.Scheduler || c.Slots > 0 {
		works := c.Slots > 0
		if a, err = assign.New(s, assign.Config{
			Namespace: "scale", Role: "scheduler", Slots: max(c.Slots, 1), SchedulerWorks: &works,
			StreamAutoCreate: true, Storage: jetstream.FileStorage,
		}); err != nil {
			return nil, err
		}
	}
	if c.Slots > 0 {
		if err := assign.Handle(a, scheduled, func(context.Context, *assign.Task[[]byte]) ([]byte, error) {
			return nil, nil
		}); err != nil {
			return nil, err
		}
	}
	if err := s.Open(ctx, nc); err != nil {
		return nil, err
	}
	contend := func(role string, lead func(context.Context, *election.Term) error) error {
		e, err := s.Campaign(election.RoleConfig{Role: role, Lead: lead})
		if err != nil {
			return err
		}
		return e.Start(ctx)
	}
	if c.Scheduler {
		if err := contend("scheduler", a.Lead); err != nil {
			return nil, err
		}
	}
	work := func(ctx context.Context, t *election.Term) error {
		l.Tell(began, t.Role())
		<-ctx.Done()
		l.Tell(ended, t.Role())
		return nil
	}
	for r := range c.Roles {
		if err := contend(roleName(r), work); err != nil {
			return nil, err
		}
	}
	return s, nil
}
