package worker

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// worker is the work of one process under one lease: a goroutine that owns the worker's rules,
// reads the scheduler's frames, starts handlers and reports their results.
type worker struct {
	cfg      Config
	sub      record.Work
	handlers *Registry
	session  *election.Session
	ctx      context.Context // of the lease
	h        Host
	out      *shortcut.Sender
	in       *mailbox.Mailbox[any] // bounded by what the scheduler may have unanswered, and by the slots

	machine  *workers.Worker
	effects  []workers.Effect
	verifier frameVerifier
	awake    bool      // the session is on short beats, and stays so
	busy     bool      // it was asked to
	worked   time.Time // when the worker last held a task, or a frame waited
	// stubborn handlers run on after the drain: the session must not be called closed.
	stubborn bool
	// unreturned names them, after a drain.
	unreturned error
	runs       map[string]*execution
	outbox     outbox
	attempts   attempts

	telling      *workers.Telling
	began        time.Time
	declarations declaredKinds
	parked       []parked
	answers      uint64 // that went in parts
	offered      bool   // our record names the namespace, and the watch has shown it
	closing      bool   // the session is: nothing is begun any more
	alive        atomic.Int64
	unread       atomic.Int64 // bytes of frames in memory that wait for the loop
	tried        uint64       // the epoch for which the permission to report was tried
}

const (
	maxParked   = 64
	maxOutbox   = 4096
	parkedPoll  = 5 * time.Millisecond
	maxInFrames = 4096 // frames that NATS holds for us

	wakePatience = 5 * time.Millisecond // the loop waits no longer than this
	wakeLook     = time.Millisecond
)

// look reads the view again.
func (s *worker) look() {
	info, _ := s.h.Role(s.cfg.Role)
	if s.verifier.see(info) {
		s.follow()
		s.outbox.again(s.runs) // a new epoch: the new leader hears all of it
		s.declarations.again()
	}
}

func (s *worker) step(ev workers.Event) {
	s.effects = s.machine.Step(ev, s.effects[:0])
	for _, e := range s.effects {
		switch e := e.(type) {
		case workers.Halt:
			if x := s.runs[e.ID]; x != nil && x.attempt == e.Attempt {
				x.lose(stoppedBy(e.Status))
			}
		case workers.Reply:
			r := e.Ref.(*reply)
			s.out.Send(r.to, "", frame.EncodeAnswers(s.h.Session(), r.number, e.Answers, r.key))
		case workers.Report:
			s.outbox.ready(e.ID, e.Attempt)
		case workers.Forget:
			s.outbox.forget(e.ID, e.Attempt)
		}
	}
}

// settleDown lets the session idle when the worker holds no task and no frame waits, and keeps it
// from idling before. A worker that has just worked stays on short beats for one or two quarters of
// the TTL, so that the next task begins without asking the session again.
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

// wake reports whether the session is on short beats, because others may end an idle session at
// once. The first call asks for short beats, and waits for a moment. If they have not come then,
// the frame is parked, and each further call only looks.
//
// An acknowledged beat does not make a candidate awake: its watch must show the beat too, and that
// happens before the acknowledgement or after it. Awake hears of acknowledgements alone. So Awake
// is asked again, rather than left to wait for the next beat.
func (s *worker) wake() bool {
	var patience time.Duration
	if !s.awake && !s.busy {
		s.busy, patience = true, wakePatience
		s.h.Busy(true)
	}
	for until := time.Now().Add(patience); !s.awake; {
		// Not the lease's context, because that has ended while the session is being closed, and
		// Awake would then not wait.
		ctx, cancel := context.WithTimeout(context.Background(), min(patience, wakeLook))
		s.awake = s.h.Awake(ctx) == nil
		cancel()
		if !time.Now().Before(until) {
			break
		}
	}
	return s.awake
}

// abandon cancels everything: the session is lost, and its tasks are given to others. The tasks of
// handlers that do not return are remembered, so that no second handler runs beside them.
func (s *worker) abandon() {
	for _, x := range s.runs {
		x.abandon()
	}
	clear(s.runs)
}

// meta is the event.Meta of this process's task events.
func (s *worker) meta() event.Meta { return s.h.Meta() }

// parked is a frame that waits: for the view to catch up (tasks.Later), or for a short beat
// (tasks.NotReady).
type parked struct {
	arrivedFrame
	until time.Time
	why   tasks.Verdict
}

// reply is where the answer to a frame goes.
type reply struct {
	to     string
	number uint64
	key    string // ours, if the frame asks for it
}

// send sends the reports that are due to the scheduler in view.
func (s *worker) send(now time.Time) {
	o := &s.outbox
	o.overdue(now)
	o.warm(now)
	if s.verifier.epoch == 0 || now.Before(o.pause) {
		return
	}
	size := max(min(reportSize, s.out.MaxPayload()-record.Headroom), 0)
	for {
		number, list := o.report(now, size, s.cfg.AnswerTimeout)
		if number == 0 {
			return
		}
		s.report(o.inbox+strconv.FormatUint(number, 36),
			frame.EncodeReport(s.h.Instance(), s.h.Session(), s.verifier.epoch, list))
	}
}
