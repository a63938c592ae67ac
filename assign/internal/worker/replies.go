package worker

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// park keeps a frame for a moment, until its epoch is in view or the session is on short beats. A
// dropped frame comes again only when the scheduler has waited for its answer in vain.
func (s *worker) park(f arrivedFrame, until time.Time, why tasks.Verdict) {
	if until.IsZero() {
		until = time.Now().Add(s.cfg.AnswerTimeout)
		if len(s.parked) >= maxParked {
			s.reject(f.m, frame.Envelope{}, why)
			return
		}
	}
	s.parked = append(s.parked, parked{f, until, why})
}

// reject counts a frame under its reason. It answers only a stale frame. Any other frame might be
// accepted when a copy of it comes, and until then its sender must not give the tasks to another
// worker.
func (s *worker) reject(m *nats.Msg, v frame.Envelope, verdict tasks.Verdict) {
	reason := verdict.String()
	if verdict == frame.Later {
		reason = record.UnknownEpoch
	}
	s.rejected("", reason)
	if m.Reply == "" || verdict != tasks.StaleEpoch {
		return
	}
	var answers []tasks.Answer
	if raw, _, err := frame.Open(m.Data); err == nil {
		if _, _, list, err := frame.DecodeAssign(raw); err == nil {
			for i := range list {
				answers = append(answers, tasks.Answer{ID: list[i].ID, Attempt: list[i].Attempt, Verdict: verdict})
			}
		}
	}
	if len(answers) > 0 && v.Session == s.h.Session() {
		s.out.Send(m.Reply, "", frame.EncodeAnswers(s.h.Session(), v.Number, answers, ""))
	}
}

func (s *worker) rejected(kind, reason string) {
	s.h.Emit(event.TaskRejected{
		Meta: s.meta(), Namespace: s.cfg.Namespace, Kind: kind, Worker: s.h.Instance(),
		Reason: reason,
	})
}

// answerAll answers the scheduler, in as many messages as the answer needs. The scheduler confirms
// the answer to the subject of reply.
func (s *worker) answerAll(to, reply string, frame []byte) {
	s.answers++
	for _, part := range control.Parts(frame, s.out.MaxPayload(), s.answers) {
		s.out.Send(to, reply, part)
	}
}

func isSync(m *nats.Msg) bool {
	raw, _, err := frame.Open(m.Data)
	return err == nil && frame.FrameType(raw[1]) == frame.FrameSync
}
