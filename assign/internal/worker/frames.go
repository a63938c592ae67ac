package worker

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// frame handles a frame. until is set if the frame has waited.
func (s *worker) frame(f arrivedFrame, until time.Time) {
	raw, v, verdict := s.verifier.check(f, s.out.MaxPayload())
	if verdict == frame.Later {
		s.look()
		raw, v, verdict = s.verifier.check(f, s.out.MaxPayload())
	}
	if verdict == frame.Later {
		s.park(f, until, frame.Later)
		return
	}
	if verdict == tasks.TooLarge {
		s.out.Refresh()
	}
	if verdict != tasks.Accepted {
		s.reject(f.m, v, verdict)
		return
	}
	switch frame.FrameType(raw[1]) {
	case frame.FrameAssign:
		s.assigned(raw, f, until)
	case frame.FrameStop:
		v, told, err := frame.DecodeStop(raw)
		if err != nil {
			s.rejected("", record.Malformed)
			return
		}
		s.telling.Heard()
		s.step(told)
		halted := []tasks.Answer{{ID: told.ID, Attempt: told.Attempt, Verdict: tasks.Halted}}
		s.out.Send(f.m.Reply, "", frame.EncodeAnswers(s.h.Session(), v.Number, halted, s.verifier.shared.Believed(&v)))
	case frame.FrameSync:
		v, err := frame.DecodeSync(raw)
		if err != nil {
			s.rejected("", record.Malformed)
			return
		}
		s.answerAll(f.m.Reply, s.confirmed(v.Epoch),
			s.synced(v.Epoch, s.verifier.shared.Believed(&v)))
	default:
		s.reject(f.m, v, tasks.Unsupported)
	}
}

// assigned handles a frame of assignments that the verifier has accepted. until is set if the frame
// has waited. Under an idle session nothing is begun: the frame waits for the beat that ends the
// idling.
func (s *worker) assigned(raw []byte, f arrivedFrame, until time.Time) {
	v, low, list, err := frame.DecodeAssign(raw)
	if err != nil {
		s.rejected("", record.Malformed)
		return
	}
	assignments := make([]tasks.Assignment, len(list))
	for i := range list {
		assignments[i] = list[i].Assignment
	}
	if !s.h.Trusted() {
		s.reject(f.m, v, tasks.NotReady)
		return
	}
	if !s.closing && !s.wake() {
		s.park(f, until, tasks.NotReady)
		return
	}
	s.telling.Heard()
	s.step(workers.Received{
		Term: v.Term, Low: low, List: assignments, Ref: &reply{f.m.Reply, v.Number, s.verifier.shared.Believed(&v)},
		Blocked: s.handlers.blockedTasks(),
	})
	i := 0
	for _, e := range s.effects {
		switch e := e.(type) {
		case workers.Start:
			for list[i].ID != e.Assignment.ID || list[i].Serial != e.Assignment.Serial { // starts are in the frame's order
				i++
			}
			s.start(&list[i])
		case workers.Reply:
			for j, answer := range e.Answers {
				if answer.Verdict == tasks.Replayed { // the scheduler is done with the task, and would not count it
					s.rejected(list[j].Policy.Kind, answer.Verdict.String())
				}
			}
		}
	}
}

// start runs a handler in a goroutine of its own.
func (s *worker) start(t *frame.Task) {
	x := &execution{
		attempts: &s.attempts, id: t.ID, kind: t.Policy.Kind, attempt: t.Attempt,
		weight: max(t.Policy.Weight, 1), began: time.Now(),
	}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	x.release = context.AfterFunc(s.ctx, x.leaseOver)
	s.runs[t.ID] = x
	h := s.handlers.handler(t.Policy.Kind)
	run := bridge.TaskRun{
		ID: t.ID, Kind: t.Policy.Kind, Attempt: t.Try, Token: fence(t.ID, s.h.Instance(), t.Attempt), Trace: t.Trace,
		Headers: record.HeadersOf(t.Header), Began: x.began, Reporter: x,
	}
	if len(t.Saved) > 0 {
		run.Checkpoint = t.Saved
	}
	bounds := attemptBounds{timeout: t.Policy.Timeout, left: t.Left, retention: t.Policy.Retention}
	// the drain awaits it; after the loss of the session it blocks its task here until it returns
	go x.run(h, t.Payload, run, bounds)
}

// unpark looks again at the frames that wait. A frame that waits for a short beat is not checked
// again before there is one: each check may cost a signature. A scheduler that asks what this
// worker holds waits for the answer before it does anything else, so the session gets a new watch.
func (s *worker) unpark(now time.Time) {
	if len(s.parked) == 0 {
		return
	}
	waiting := s.parked
	s.parked = nil
	asleep := false
	for _, p := range waiting {
		if !now.Before(p.until) {
			if p.why == frame.Later && isSync(p.m) {
				s.h.Refresh()
			}
			s.reject(p.m, frame.Envelope{}, p.why)
			continue
		}
		if asleep = asleep || p.why == tasks.NotReady && !s.wake(); asleep && p.why == tasks.NotReady {
			s.parked = append(s.parked, p)
			continue
		}
		s.frame(p.arrivedFrame, p.until)
	}
}

// ended handles the result of a handler.
func (s *worker) ended(r returned) {
	if s.runs[r.x.id] == r.x {
		delete(s.runs, r.x.id)
	}
	s.outbox.keep(r.finding)
	s.step(workers.Ended{ID: r.finding.ID, Attempt: r.finding.Attempt})
}

// fence is the token of an attempt. Its id is random, so that only this worker can have handed the
// token to its holder.
func fence(id, holder string, a tasks.Attempt) fencing.Token {
	return fencing.NewToken("task/"+id, holder, a.Epoch, a.N, uuid.New())
}
