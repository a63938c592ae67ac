package worker

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// gate decides whether a frame comes from the scheduler, and is for us. What it says of the scheduler comes from the view
// alone: a frame with a newer epoch is not believed, it only waits a moment for the view.
type gate struct {
	namespace, role, instance string
	session                   uint64
	open                      bool            // our record was seen on the watch, see assign
	trusting                  bool            // signatures are not checked: VerifyOff
	own                       *fencing.Signer // our session's: it may be the one that leads

	epoch    uint64 // of the leader in view, 0: nobody leads
	highest  uint64 // revision of the role's record that was ever in view; never decreases
	key      string
	verifier *fencing.Verifier
}

// see takes what the view says of the role, and reports whether the epoch is new.
func (g *gate) see(info election.RoleInfo) bool {
	if info.Revision < g.highest {
		return false
	}
	g.highest = info.Revision
	if info.Leader == "" {
		g.epoch = 0
		return false
	}
	if info.PublicKey != g.key {
		g.key = info.PublicKey
		g.verifier = g.verifierOf(info.PublicKey)
	}
	fresh := info.Epoch != g.epoch
	g.epoch = info.Epoch
	return fresh
}

// verifierOf returns nil, by which nothing is verified, for what is no public key.
func (g *gate) verifierOf(publicKey string) *fencing.Verifier {
	if g.own.PublicKey() == publicKey {
		return g.own.Verifier()
	}
	v, _ := fencing.NewVerifier(publicKey)
	return v
}

// check looks at a frame in this order: size, version; then stale epoch, signature, audience, by the rules. Expiry and replay
// are looked at for each assignment, and so after the signature: what a frame says of time counts from its arrival, since the
// clocks of two machines are not compared, and a frame as a whole has no time of its own to be late by.
func (g *gate) check(m *nats.Msg, most int) (frame []byte, v tasks.Envelope, verdict tasks.Verdict) {
	if len(m.Data) > most {
		return nil, v, tasks.TooLarge
	}
	frame, signature, err := tasks.Open(m.Data)
	if err == nil {
		v, _, err = tasks.DecodeEnvelope(frame)
	}
	switch {
	case errors.Is(err, tasks.ErrVersion):
		return nil, v, tasks.Unsupported
	case err != nil:
		return nil, v, tasks.Forged
	}
	us := g.addressee()
	if verdict := us.Judge(&v, func() bool { return g.signed(frame, signature) }); verdict != tasks.Accepted {
		return nil, v, verdict
	}
	return frame, v, tasks.Accepted
}

func (g *gate) addressee() tasks.Addressee {
	return tasks.Addressee{
		Namespace: g.namespace, Role: g.role, Instance: g.instance, Session: g.session, Epoch: g.epoch, Highest: g.highest, Open: g.open,
	}
}

// signed reports whether a frame is signed with the key of the leader in view.
func (g *gate) signed(frame, signature []byte) bool {
	return g.trusting || g.verifier != nil && g.verifier.Verify(frame, signature) == nil
}

// reply is where the answer to a frame goes.
type reply struct {
	to     string
	number uint64
}

// frame takes a frame; until is set when it has waited.
func (s *worker) frame(m *nats.Msg, until time.Time) {
	frame, v, verdict := s.gate.check(m, s.out.MaxPayload())
	if verdict == tasks.Later {
		s.look()
		frame, v, verdict = s.gate.check(m, s.out.MaxPayload())
	}
	if verdict == tasks.Later {
		s.park(m, until, tasks.Later)
		return
	}
	if verdict == tasks.TooLarge {
		s.out.Refresh()
	}
	if verdict != tasks.Accepted {
		s.reject(m, v, verdict)
		return
	}
	switch tasks.FrameType(frame[1]) {
	case tasks.FrameAssign:
		s.assigned(frame, m, until)
	case tasks.FrameStop:
		_, told, err := tasks.DecodeStop(frame)
		if err != nil {
			s.rejected("", record.Malformed)
			return
		}
		s.step(told)
		s.out.Send(m.Reply, "", tasks.EncodeAnswers(s.h.Session(), v.Number, []tasks.Answer{{ID: told.ID, Attempt: told.Attempt, Verdict: tasks.Halted}}))
	case tasks.FrameSync:
		s.answerAll(m.Reply, tasks.EncodeSynced(s.h.Session(), v.Epoch, s.machine.Holding()))
	default:
		s.reject(m, v, tasks.Unsupported)
	}
}

// park keeps a frame for a moment, until its epoch is in view or the session on short beats: what is dropped comes again
// only when the scheduler has waited for its answer in vain.
func (s *worker) park(m *nats.Msg, until time.Time, why tasks.Verdict) {
	if until.IsZero() {
		until = time.Now().Add(s.cfg.AnswerTimeout)
		if len(s.parked) >= maxParked {
			s.reject(m, tasks.Envelope{}, why)
			return
		}
	}
	s.parked = append(s.parked, parked{m, until, why})
}

// unpark looks again at what waits. A frame that waits for a short beat is not checked anew before there is one: each look
// would cost a signature. A scheduler that asks what we hold waits for us with everything: the session gets a new watch.
func (s *worker) unpark(now time.Time) {
	if len(s.parked) == 0 {
		return
	}
	waiting := s.parked
	s.parked = nil
	asleep := false
	for _, p := range waiting {
		if !now.Before(p.until) {
			if p.why == tasks.Later && isSync(p.m) {
				s.h.Refresh()
			}
			s.reject(p.m, tasks.Envelope{}, p.why)
			continue
		}
		if asleep = asleep || p.why == tasks.NotReady && !s.wake(); asleep && p.why == tasks.NotReady {
			s.parked = append(s.parked, p)
			continue
		}
		s.frame(p.m, p.until)
	}
}

func isSync(m *nats.Msg) bool {
	frame, _, err := tasks.Open(m.Data)
	return err == nil && tasks.FrameType(frame[1]) == tasks.FrameSync
}

// reject counts a frame under its reason. It answers only a stale one: any other might be accepted when a copy of it comes,
// and its sender must not give the tasks to somebody else before.
func (s *worker) reject(m *nats.Msg, v tasks.Envelope, verdict tasks.Verdict) {
	reason := verdict.String()
	if verdict == tasks.Later {
		reason = record.UnknownEpoch
	}
	s.rejected("", reason)
	if m.Reply == "" || verdict != tasks.StaleEpoch {
		return
	}
	var answers []tasks.Answer
	if frame, _, err := tasks.Open(m.Data); err == nil {
		if _, _, list, err := tasks.DecodeAssign(frame); err == nil {
			for i := range list {
				answers = append(answers, tasks.Answer{ID: list[i].ID, Attempt: list[i].Attempt, Verdict: verdict})
			}
		}
	}
	if len(answers) > 0 && v.Session == s.h.Session() {
		s.out.Send(m.Reply, "", tasks.EncodeAnswers(s.h.Session(), v.Number, answers))
	}
}

// answerAll answers the scheduler, in as many messages as the answer needs.
func (s *worker) answerAll(to string, frame []byte) {
	s.answers++
	for _, part := range control.Parts(frame, s.out.MaxPayload(), s.answers) {
		s.out.Send(to, "", part)
	}
}
