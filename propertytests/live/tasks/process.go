package tasks

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Plan says how a process takes part.
type Plan struct {
	Name   string
	Worker bool // it campaigns for nothing
	Idle   bool // it takes no tasks while it leads
	Slots  int
	Budget int // how many workers a task may lose (100)
	// Drain is how long what runs may continue when the session is closed (the TTL).
	Drain time.Duration
	// Path, when set, stands before the process's link.
	Path func(l *natsrun.Link) nats.CustomDialer
}

// Process is one program that takes part.
type Process struct {
	Plan
	Link     *natsrun.Link
	Conn     *nats.Conn
	Session  *election.Session
	Assigner *assign.Assigner
	Election *election.Election // nil for a worker

	a     *Arena
	n     int // how many joined before it
	gone  atomic.Bool
	ended context.CancelFunc
	wg    sync.WaitGroup
}

// Join starts a process. It opens its session by itself.
func (a *Arena) Join(plan Plan) *Process {
	a.TB.Helper()
	a.mu.Lock()
	p := &Process{Plan: plan, a: a, n: len(a.processes), Link: a.Network.Link()}
	a.processes = append(a.processes, p)
	a.mu.Unlock()
	var dialer nats.CustomDialer = p.Link
	if plan.Path != nil {
		dialer = plan.Path(p.Link)
	}
	var err error
	if p.Conn, err = a.Network.Connect(append(storm.Patient(p.String(), a.TTL),
		nats.SetCustomDialer(dialer))...); err == nil {
		err = p.start()
	}
	if err != nil {
		a.TB.Fatal(err)
	}
	return p
}

func (p *Process) start() (err error) {
	p.Session, err = election.NewSession(election.SessionConfig{
		Bucket: p.a.Name, InstanceID: p.Name, WorkerOnly: p.Worker, TTL: p.a.TTL, CoolDown: p.a.TTL / 2,
		Sinks: []event.Sink{event.SinkFunc(p.observe)},
	})
	if err != nil {
		return err
	}
	works := !p.Idle
	p.Assigner, err = assign.New(p.Session, assign.Config{
		Namespace: p.a.Name, Role: Role, Slots: cmp.Or(p.Slots, 8), SchedulerWorks: &works,
		CrashBudget: cmp.Or(p.Budget, 100), DrainTimeout: p.Drain, Storage: p.a.Storage,
	})
	if err != nil {
		return err
	}
	for _, k := range Kinds {
		if err := assign.Handle(p.Assigner, k, p.run); err != nil {
			return err
		}
	}
	if err := assign.Handle(p.Assigner, Whole, p.complete); err != nil {
		return err
	}
	var ctx context.Context
	ctx, p.ended = context.WithCancel(context.Background())
	if !p.Worker {
		if p.Election, err = p.Session.Campaign(election.RoleConfig{Role: Role, Lead: p.Assigner.Lead}); err != nil {
			return err
		}
		if err := p.Election.Start(ctx); err != nil {
			return err
		}
	}
	p.wg.Go(func() {
		if err := p.Session.Open(ctx, p.Conn); err != nil {
			p.a.Note("%s: open: %v", p, err)
		}
	})
	return nil
}

// observe keeps what a failure should tell, and what the sweep needs to know of sessions.
func (p *Process) observe(e event.Event) {
	p.a.Tally.Observe(e)
	switch e := e.(type) {
	case event.RolePromoted:
		p.a.Note("%s leads at epoch %d", p, e.Epoch)
	case event.RoleDemoted:
		p.a.Note("%s leads no longer: %s", p, e.Reason)
	case event.SessionOpened:
		p.a.Note("%s opens session %d", p, e.Session)
	case event.SessionLost:
		p.a.Note("%s loses session %d: %v", p, e.Session, e.Cause)
		p.a.Ledger.Lost(p.String(), e.Session, time.Now())
	case event.SessionKilled:
		p.a.Note("%s kills session %d of %s", p, e.VictimSession, e.Victim)
	case event.TaskRecovered:
		p.a.Note("%s has recovered: %d open, %d adopted", p, e.Open, e.Adopted)
		p.a.Tally.Add("adopted", e.Adopted)
	case event.TaskReassigned:
		p.a.Tally.Add("rerun/"+e.Cause, 1)
	case event.TaskRejected:
		p.a.Tally.Add("rejected/"+e.Reason, 1)
	case event.TaskCompleted:
		p.a.Tally.Add("outcome/"+e.Outcome, 1)
	}
}

func (p *Process) String() string { return fmt.Sprintf("%s#%d", p.Name, p.n) }

// Wire is its path to the server.
func (p *Process) Wire() *natsrun.Link { return p.Link }

// Lost reports whether its path is never healed again.
func (p *Process) Lost() bool { return !p.Alive() }

// Alive reports whether it takes part.
func (p *Process) Alive() bool {
	return p.open() && !p.gone.Load()
}

// open reports whether its session has not ended yet.
func (p *Process) open() bool {
	select {
	case <-p.Session.Done():
		return false
	default:
		return true
	}
}

// Crash cuts the process off for ever. Inside, it continues for as long as it believes: so does a
// machine that was frozen.
func (p *Process) Crash() {
	p.gone.Store(true)
	p.Link.Cut()
}

// Leave closes the session cleanly, in a goroutine of the process's own.
func (p *Process) Leave() {
	p.gone.Store(true)
	p.wg.Go(func() {
		_ = p.Session.Close(context.Background()) // what is not drained keeps its lease
	})
}

// Abandon ends whatever still runs of the process, without ceremony.
func (p *Process) Abandon() {
	p.gone.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = p.Session.Close(ctx) // whatever is left of it
	p.ended()
	p.wg.Wait()
	<-p.Session.Done()
	p.Conn.Close()
}
