package elections

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Plan says how a process takes part.
type Plan struct {
	Name  string
	Roles []election.RoleConfig // Lead is the arena's
	Work  Work
	// OnPromote and OnDemote are called along with the arena's own callbacks.
	OnPromote func(ctx context.Context, t fencing.Token)
	OnDemote  func()
	// Session holds what differs from the defaults; Bucket, InstanceID and Sinks are the arena's.
	Session election.SessionConfig
	// Rate is the pace of its clock, 1 when zero; Offset is how far its clock is ahead.
	Rate   float64
	Offset time.Duration
	Clock  clock.Clock // instead of both
	Seed   uint64
}

// Process is one program that takes part.
type Process struct {
	Plan
	Link      *natsrun.Link
	Conn      *nats.Conn
	Session   *election.Session
	Elections map[string]*election.Election

	a       *Arena
	n       int // how many joined before it
	gone    atomic.Bool
	crashed atomic.Bool
	ended   context.CancelFunc
	wg      sync.WaitGroup
	bodies  sync.WaitGroup // of work; what is stuck outlives the session
	open    chan struct{}
	opened  error // set before open is closed

	mu   sync.Mutex
	rng  *rand.Rand
	over bool // no work begins any more
}

// Join starts a process. It opens its session by itself.
func (a *Arena) Join(plan Plan) *Process {
	a.TB.Helper()
	a.mu.Lock()
	p := &Process{
		Plan: plan, a: a, n: len(a.processes), open: make(chan struct{}),
		Elections: map[string]*election.Election{},
	}
	a.processes = append(a.processes, p)
	a.mu.Unlock()
	p.rng = rand.New(rand.NewPCG(plan.Seed, uint64(p.n)))
	p.Link = a.Network.Link()
	nc, err := a.Network.Connect(append(storm.Patient(p.String(), cmp.Or(plan.Session.TTL, 10*time.Second)),
		p.Link.Options()...)...)
	if err != nil {
		a.TB.Fatal(err)
	}
	p.Conn = nc
	p.start()
	return p
}

func (p *Process) start() {
	cfg := p.Plan.Session
	cfg.Bucket, cfg.InstanceID = Bucket, p.Name
	cfg.Sinks = append(cfg.Sinks, p.a.Tally, event.SinkFunc(p.observe))
	switch {
	case p.Clock != nil:
		bridge.SetClock(&cfg, p.Clock)
	case p.Rate != 0:
		bridge.SetClock(&cfg, clock.Skewed(clock.System(), p.Rate, p.Offset))
	}
	var err error
	if p.Session, err = election.NewSession(cfg); err != nil {
		p.a.TB.Fatal(err)
	}
	for _, role := range p.Roles {
		p.campaign(role)
	}
	var ctx context.Context
	ctx, p.ended = context.WithCancel(context.Background())
	p.wg.Go(func() {
		p.opened = p.Session.Open(ctx, p.Conn)
		close(p.open)
	})
	p.wg.Go(func() { p.sample(ctx) })
}

func (p *Process) campaign(role election.RoleConfig) {
	w := &roleWorker{p: p, role: role.Role}
	role.Lead = w.lead
	e, err := p.Session.Campaign(role)
	if err != nil {
		p.a.TB.Fatal(err)
	}
	e.OnPromote(w.promoted)
	e.OnDemote(w.demoted)
	w.election = e
	p.Elections[role.Role] = e
	if err := e.Start(context.Background()); err != nil {
		p.a.TB.Fatal(err)
	}
}

// sample looks at IsLeader of every role and writes down what it says: five times in each TTL on
// the virtual clock, where ends are written down as they come, and every few milliseconds in real
// time.
func (p *Process) sample(ctx context.Context) {
	every := p.Session.Config().TTL / 5
	if p.a.Ledger.realtime {
		every = min(every, 5*time.Millisecond)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.Session.Done():
			return
		case <-tick.C:
		}
		for role, e := range p.Elections {
			now := time.Now() // before it is asked: what is true then was true now
			deadline := now.Add(bridge.TrustedFor(p.Session))
			if token := e.Token(); e.IsLeader() && token.Epoch != 0 {
				p.a.Ledger.Believed(p.String(), role, token.Epoch, now, deadline)
			}
		}
	}
}

// observe keeps what a failure should tell.
func (p *Process) observe(e event.Event) {
	switch e := e.(type) {
	case event.RolePromoted:
		p.a.Note("%s leads %s at epoch %d", p, e.Role, e.Epoch)
	case event.RoleDemoted:
		p.a.Note("%s lost leadership of %s: %s", p, e.Role, e.Reason)
	case event.SessionOpened:
		p.a.Note("%s opens session %d", p, e.Session)
	case event.SessionLost:
		p.a.Note("%s loses session %d: %v", p, e.Session, e.Cause)
	case event.SessionKilled:
		p.a.Note("%s kills session %d of %s", p, e.VictimSession, e.Victim)
	case event.RoleStuck:
		p.a.Note("%s is stuck in %s", p, e.Role)
	}
}

func (p *Process) String() string { return p.Name + "#" + strconv.Itoa(p.n) }

// Wire is its path to the server.
func (p *Process) Wire() *natsrun.Link { return p.Link }

// Lost reports whether its path is never healed again.
func (p *Process) Lost() bool { return p.crashed.Load() }

// Alive reports whether it takes part.
func (p *Process) Alive() bool {
	select {
	case <-p.Session.Done():
		return false
	default:
		return !p.gone.Load()
	}
}

// Crash cuts the process off for ever. Inside, it continues for as long as it believes: so does a
// machine that was frozen.
func (p *Process) Crash() {
	p.gone.Store(true)
	p.crashed.Store(true)
	p.Link.Cut()
}

// Leads reports whether it believes that it leads the role.
func (p *Process) Leads(role string) bool { return p.Elections[role].IsLeader() }

// Epoch is that of its term in the role, 0 when it does not lead.
func (p *Process) Epoch(role string) uint64 { return p.Elections[role].Token().Epoch }

// Opened waits until the session is open, or will not be, and returns why.
func (p *Process) Opened() error {
	<-p.open
	return p.opened
}

// Leave closes the session and then the connection, and returns what the closing said.
func (p *Process) Leave() error {
	p.gone.Store(true)
	err := p.Session.Close(context.Background())
	p.end()
	return err
}

// Abandon ends whatever still runs of the process, without ceremony.
func (p *Process) Abandon() {
	p.gone.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = p.Session.Close(ctx) // whatever is left of it
	p.end()
}

func (p *Process) end() {
	p.ended()
	p.wg.Wait()
	<-p.Session.Done()
	p.Conn.Close()
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.bodies.Wait()
}

// enter counts a body of work that begins; false once the process has ended. A term that was won in
// the last moment may come to its work only then.
func (p *Process) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.bodies.Add(1)
	}
	return !p.over
}

// fatal is the fault that ended the session, if it should not have: an id that two processes use at
// once ends one of them.
func (p *Process) fatal() error {
	var duplicate *election.DuplicateInstanceError
	if err := p.Session.Err(); err != nil && !errors.As(err, &duplicate) {
		return err
	}
	return nil
}

// draw calls f with the process's own source of chance.
func (p *Process) draw(f func(rng *rand.Rand)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.rng)
}
