package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
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
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// arrivedFrame is a frame of the scheduler. One from the scheduler of the same session may come in
// memory.
type arrivedFrame struct {
	m        *nats.Msg
	inMemory bool
}

// Run works until the lease of ctx has ended, or the session has been drained. A panic of the loop
// ends the session, see guarded.
func Run(ctx context.Context, h Host, session *election.Session, cfg Config, handlers *Registry) error {
	if !handlers.rest(ctx) {
		return nil
	}
	var wg sync.WaitGroup
	s := &worker{
		cfg: cfg, sub: record.WorkOf(cfg.Namespace, h.BucketID()), handlers: handlers, session: session, ctx: ctx, h: h,
		out: cfg.Shortcut.Worker(h.Session(), natsconn.NewSender(h.Conn(), &wg)),
		in:  mailbox.New[any](), runs: map[string]*execution{},
		machine: workers.New(workers.Config{Slots: cfg.Slots, MaxOutbox: maxOutbox}),
		telling: workers.NewTelling(tellAfter * cfg.AnswerTimeout), began: time.Now(),
	}
	s.verifier = frameVerifier{
		namespace: cfg.Namespace, role: cfg.Role, instance: h.Instance(), session: h.Session(), trusting: cfg.Unverified,
		own: h.Signer(), shared: frame.NewBeliever(frame.NewKeyPair(rand.Read)),
	}
	s.attempts = attempts{
		lease: ctx, handlers: handlers, objects: &objects{cfg: cfg, h: h, out: s.out}, put: func(m any) { s.in.Put(m) },
		sealer: cfg.Sealer, namespace: cfg.Namespace, patience: cfg.DrainTimeout, emit: h.Emit, meta: h.Meta,
	}
	h.Drains(cfg.DrainTimeout + s.handingBack() + 3*h.Config().OpTimeout)
	if cfg.Unverified {
		handlers.unchecked.Do(func() { h.Emit(event.FramesUnverified{Meta: h.Meta(), Namespace: cfg.Namespace}) })
	}
	s.outbox = newOutbox(h.Conn().NewInbox() + ".")
	subs, err := s.subscribe()
	if err == nil {
		leave := s.join()
		wg.Go(s.watchdog)
		wg.Go(func() { natsconn.WatchDenials(s.ctx, h.Conn(), func(d *natskv.PermissionError) { s.in.Put(d) }) })
		err = s.guarded()
		leave()
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
	return errors.Join(err, s.unreturned)
}

func (s *worker) subscribe() ([]*nats.Subscription, error) {
	me := s.h.Instance()
	frame := s.hear(func(m *nats.Msg) any { return arrivedFrame{m: m} })
	subs, err := natsconn.Subscribe(s.h.Conn(), map[string]nats.MsgHandler{
		s.sub.Assign(me): frame, s.sub.Cancel(me): frame, s.sub.Sync(me): frame,
		s.outbox.inbox + "*": s.hear(s.outbox.readAnswer),
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
			s.machine.Step(workers.Drain{}, nil)
			drain.begin(s.cfg.DrainTimeout)
		}
		now := time.Now()
		s.alive.Store(now.UnixNano())
		if !s.h.Trusted() {
			s.stuck(&drain)
			s.abandon() // the lease's context ends in a moment, or has ended if the session is being closed
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
		s.declare(now)
		s.tell()
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
		s.unread.Add(-m.held())
		s.frame(m, time.Time{})
	case returned:
		s.ended(m)
	case progressed:
		s.outbox.progress(m.x)
	case acknowledged:
		for _, e := range s.outbox.acknowledge(m) {
			s.step(workers.Acked{ID: e.ID, Attempt: e.Attempt})
		}
	case confirmed:
		s.confirm(m)
	case declarationAnswered:
		s.declared(m)
	case *natskv.PermissionError:
		s.denied(m)
	case collapsed:
		panic(m)
	}
}

// describe publishes the worker's offer, and waits until the watch has shown it. From then on the
// worker may take orders, see election's Describe. A worker without handlers offers nothing.
func (s *worker) describe() {
	kinds, build := s.handlers.kinds()
	if len(kinds) == 0 {
		s.offered = true
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.h.Config().TTL)
	defer cancel()
	s.machine.Offer(kinds)
	s.declarations.take(s.handlers.declarations(), s.h.Instance())
	err := s.h.Describe(ctx, s.cfg.Namespace, &election.Workplace{
		Slots: s.cfg.Slots, Kinds: kinds, Labels: s.cfg.Labels, Build: build, Alone: true,
		Beside: len(s.handlers.blockedTasks()) > 0,
	})
	s.offered = err == nil
	s.verifier.open = s.verifier.open || s.offered
	s.look()
}

func (s *worker) next(now time.Time, d *drain) time.Duration {
	next := s.outbox.next(now)
	if s.verifier.epoch > 0 && s.offered && !s.closing {
		next = min(next, s.declarations.next(now))
	}
	if s.tells() {
		next = min(next, max(s.telling.Due().Sub(s.instant()), 0))
	}
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

// leave withdraws the offer, and rejects the frames that have come until the withdrawal was seen.
// The session may live on for long, for the work of roles or other namespaces, and otherwise a
// scheduler would wait for answers that never come. While a handler runs, the scheduler has to
// wait.
func (s *worker) leave() {
	if s.machine.Live() > 0 || !s.handlers.any() || !natsconn.Soon(s.h.Conn().IsConnected, false) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.h.Config().OpTimeout) // the lease's has ended
	defer cancel()
	_ = s.h.Describe(ctx, s.cfg.Namespace, nil) // if it fails, the scheduler waits until the session has ended
	for _, m := range s.in.Drain(nil) {
		s.take(m)
	}
}

// watchdog ends the session when the loop has been stuck for a lease's time, because the loop could
// not answer a new scheduler.
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
