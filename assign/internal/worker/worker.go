package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// worker is the work of one process under one lease: a goroutine that owns the worker's rules, reads what the scheduler
// sends, starts handlers and reports what they return.
//
//	assign, stop, sync ──► gate ──► rules ──► handlers ──► rules ──► reports ──► the scheduler
type worker struct {
	cfg      Config
	sub      record.Subjects
	handlers *Registry
	session  *election.Session
	ctx      context.Context // of the lease
	h        Host
	out      *natsconn.Sender
	in       *mailbox.Mailbox[any] // bounded by what the scheduler may have unanswered, and by the slots

	machine *tasks.Worker
	effects []tasks.WorkerEffect
	gate    gate
	awake   bool      // the session is on short beats, and stays so
	busy    bool      // it was asked to
	worked  time.Time // when something was last held or waited
	// stubborn handlers run on after the drain: the session must not be called closed.
	stubborn bool
	runs     map[string]*execution
	outbox   outbox
	objects  objects
	parked   []parked
	answers  uint64 // that went in parts
	offered  bool   // our record names the namespace, and the watch has shown it
	closing  bool   // the session is: nothing is begun any more
	alive    atomic.Int64
}

// Messages to the shift's loop.
type (
	// arrived is a frame of the scheduler.
	arrivedFrame struct{ m *nats.Msg }
	// returned is a handler's.
	returned struct {
		x       *execution
		finding tasks.Finding
	}
	// progressed says that a handler has said how far it is.
	progressed struct{ x *execution }
	// acknowledged answers a report.
	acknowledged struct {
		number uint64
		stale  []bool
		ok     bool
	}
)

// parked is a frame that waits: for the view to catch up (later), or for a short beat (tasks.NotReady).
type parked struct {
	m     *nats.Msg
	until time.Time
	why   tasks.Verdict
}

const (
	maxParked   = 64
	maxOutbox   = 4096
	parkedPoll  = 5 * time.Millisecond
	maxInFrames = 4096 // frames that NATS holds for us

	wakePatience = 5 * time.Millisecond // the loop stands still so long at most
	wakeLook     = time.Millisecond
)

// Run works until the lease of ctx has ended, or the session has been drained.
func Run(ctx context.Context, h Host, session *election.Session, cfg Config, handlers *Registry) error {
	var wg sync.WaitGroup
	s := &worker{
		cfg: cfg, sub: record.SubjectsOf(cfg.Namespace), handlers: handlers, session: session, ctx: ctx, h: h, out: natsconn.NewSender(h.Conn(), &wg), in: mailbox.New[any](), runs: map[string]*execution{},
		machine: tasks.NewWorker(tasks.WorkerConfig{Slots: cfg.Slots, MaxOutbox: maxOutbox}),
	}
	s.gate = gate{
		namespace: cfg.Namespace, role: cfg.Role, instance: h.Instance(), session: h.Session(), trusting: cfg.Unverified,
		own: h.Signer(),
	}
	s.objects.s = s
	h.Drains(cfg.DrainTimeout + s.handingBack() + 3*h.Config().OpTimeout)
	if cfg.Unverified {
		handlers.unchecked.Do(func() { h.Emit(event.FramesUnverified{Meta: h.Meta(), Namespace: cfg.Namespace}) })
	}
	s.outbox = newOutbox(h.Conn().NewInbox() + ".")
	subs, err := s.subscribe()
	if err == nil {
		wg.Go(s.watchdog)
		wg.Go(func() { natsconn.WatchDenials(s.ctx, h.Conn(), func(d *natskv.PermissionError) { s.in.Put(d) }) })
		err = s.run()
		if s.busy && !s.stubborn {
			h.Busy(false)
		}
	}
	s.out.Stop()
	natsconn.Within(h.Config().OpTimeout, func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe() // fails only when the connection is closed
		}
		wg.Wait()
	})
	return err
}

func (s *worker) subscribe() ([]*nats.Subscription, error) {
	me := s.h.Instance()
	frame := func(m *nats.Msg) { s.in.Put(arrivedFrame{m}) }
	subs, err := natsconn.Subscribe(s.h.Conn(), map[string]nats.MsgHandler{
		s.sub.Assign(me): frame, s.sub.Cancel(me): frame, s.sub.Sync(me): frame,
		s.outbox.inbox + "*": func(m *nats.Msg) { s.in.Put(s.outbox.answer(m)) },
	})
	if errors.Is(err, nats.ErrPermissionViolation) {
		err = taskerr.Permission(err)
	}
	return subs, err
}

// run is the loop, until the lease is lost or the drain has ended.
func (s *worker) run() error {
	s.look()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var batch []any
	var drain drain
	lease := s.ctx.Done()
	for {
		if !s.offered && drain.phase == working {
			s.describe()
		}
		select {
		case <-s.in.Ready():
			batch = s.in.Drain(batch)
			for _, m := range batch {
				s.take(m)
			}
		case <-s.h.Changed():
			s.look()
		case <-s.handlers.offer:
			s.offered = false
		case <-timer.C:
		case <-lease:
			if !errors.Is(context.Cause(s.ctx), election.ErrClosed) {
				s.abandon()
				return nil
			}
			lease, s.closing = nil, true
			s.machine.Step(tasks.Drain{}, nil)
			drain.begin(s.cfg.DrainTimeout)
		}
		now := time.Now()
		s.alive.Store(now.UnixNano())
		if !s.h.Believes() {
			s.stuck(&drain)
			s.abandon() // the lease's context ends in a moment, or has ended, when the session is being closed
			if drain.phase != working {
				return nil
			}
		}
		if drain.phase != working && s.drained(&drain, now) {
			s.leave()
			return nil
		}
		s.unpark(now)
		s.send(now)
		s.settleDown(now)
		wait := min(s.quarter(), s.next(now, &drain))
		if drain.phase != working { // nothing else tells that the lease is lost
			wait = min(wait, max(bridge.TrustedFor(s.session), 0))
		}
		timer.Reset(wait)
	}
}

// take handles one message.
func (s *worker) take(m any) {
	switch m := m.(type) {
	case arrivedFrame:
		s.frame(m.m, time.Time{})
	case returned:
		s.ended(m)
	case progressed:
		s.outbox.progress(m.x)
	case acknowledged:
		for _, e := range s.outbox.acknowledge(m) {
			s.step(tasks.Acked{ID: e.ID, Attempt: e.Attempt})
		}
	case *natskv.PermissionError:
		s.denied(m)
	}
}

// look reads the view anew.
func (s *worker) look() {
	info, _ := s.h.Role(s.cfg.Role)
	if s.gate.see(info) {
		s.outbox.again(s.runs) // a new epoch: whoever leads now hears all of it
	}
}

// describe publishes what we offer, and waits until the watch has shown it: whatever it shows of the scheduler's role is not
// older then. A worker without handlers offers nothing.
func (s *worker) describe() {
	kinds := s.handlers.kinds()
	if len(kinds) == 0 {
		s.offered = true
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.h.Config().TTL)
	defer cancel()
	s.machine.Offer(kinds)
	err := s.h.Describe(ctx, s.cfg.Namespace, &election.Workplace{Slots: s.cfg.Slots, Kinds: kinds, Labels: s.cfg.Labels})
	s.offered = err == nil
	s.gate.open = s.gate.open || s.offered
	s.look()
}

func (s *worker) step(ev tasks.WorkerEvent) {
	s.effects = s.machine.Step(ev, s.effects[:0])
	for _, e := range s.effects {
		switch e := e.(type) {
		case tasks.Halt:
			if x := s.runs[e.ID]; x != nil && x.attempt == e.Attempt {
				x.lose(stoppedBy(e.Status))
			}
		case tasks.Reply:
			r := e.Ref.(*reply)
			s.out.Send(r.to, "", tasks.EncodeAnswers(s.h.Session(), r.number, e.Answers))
		case tasks.Report:
			s.outbox.ready(e.ID, e.Attempt)
		case tasks.Forget:
			s.outbox.forget(e.ID, e.Attempt)
		}
	}
}

// settleDown lets the session idle when nothing is held or waits, and keeps it from it before. Who has just worked stays on
// short beats for a quarter of the TTL, or two: the next task is begun without asking the session again.
func (s *worker) settleDown(now time.Time) {
	switch {
	case s.machine.Live()+s.machine.Unacked()+len(s.parked) > 0:
		s.worked = now
	case s.busy && now.Sub(s.worked) >= s.quarter():
		s.busy, s.awake = false, false
		s.h.Busy(false)
	}
}

// quarter is how long the loop sleeps at most.
func (s *worker) quarter() time.Duration { return s.h.Config().TTL / 4 }

// wake reports whether the session is on short beats: an idle one may be ended by others at once. The first call asks for
// them, and waits for a moment; what is not to be begun then is parked, and each further call only looks.
//
// An acknowledged beat does not make a candidate awake: its watch must show the beat too, and that comes before the
// acknowledgement or after it. Awake hears of acknowledgements alone, so it is asked again rather than left to wait for the
// next beat.
func (s *worker) wake() bool {
	var patience time.Duration
	if !s.awake && !s.busy {
		s.busy, patience = true, wakePatience
		s.h.Busy(true)
	}
	for until := time.Now().Add(patience); !s.awake; {
		// Not the lease's context: that has ended while the session is being closed, and Awake then waits for nothing.
		ctx, cancel := context.WithTimeout(context.Background(), min(patience, wakeLook))
		s.awake = s.h.Awake(ctx) == nil
		cancel()
		if !time.Now().Before(until) {
			break
		}
	}
	return s.awake
}

func (s *worker) next(now time.Time, d *drain) time.Duration {
	next := s.outbox.next(now)
	if len(s.parked) > 0 {
		next = min(next, parkedPoll)
	}
	if !s.offered {
		next = min(next, 50*time.Millisecond)
	}
	if d.phase != working {
		next = min(next, max(d.until.Sub(now), 0))
	}
	return max(next, time.Millisecond)
}

// abandon cancels everything: the session is lost, and its tasks are given to others. Handlers that do not return are
// remembered, so that their tasks are not run beside them.
func (s *worker) abandon() {
	for _, x := range s.runs {
		x.abandon()
	}
	clear(s.runs)
}

// watchdog ends the session when the loop has been stuck for a lease's time: it could not answer a new scheduler.
func (s *worker) watchdog() {
	ttl := s.h.Config().TTL
	s.alive.CompareAndSwap(0, time.Now().UnixNano())
	tick := time.NewTicker(ttl / 4)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			if now.UnixNano()-s.alive.Load() > int64(ttl) {
				s.h.End("the worker's loop is stuck")
				return
			}
		}
	}
}

// meta is what this process's task events carry.
func (s *worker) meta() event.Meta { return s.h.Meta() }
