package election

import (
	"context"
	"math/rand/v2"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func newID() string { return uuid.NewString() }

func random() float64 { return rand.Float64() }

// post hands an event to the machine; it never waits. After the end of the session it is dropped.
func (s *Session) post(ev protocol.Event) { s.box.Put(message{event: ev}) }

// command hands a command to the machine and waits for its end.
func (s *Session) command(ctx context.Context, of func(protocol.CommandID) protocol.Event) (successor string,
	err error,
) {
	answer, err := s.order(of)
	if err != nil {
		return "", err
	}
	return answer(ctx)
}

// order hands a command to the machine; answer waits for its end.
func (s *Session) order(of func(protocol.CommandID) protocol.Event) (
	answer func(context.Context) (successor string, err error), err error,
) {
	answered := make(chan protocol.Done, 1) // one answer, and the loop must not wait for its reader
	id := protocol.CommandID(s.commands.Add(1))
	if !s.box.Put(message{event: of(id), id: id, answer: func(d protocol.Done) { answered <- d }}) {
		return nil, ErrClosed
	}
	return func(ctx context.Context) (string, error) {
		select {
		case d := <-answered:
			return d.Successor, public(d.Err)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, nil
}

// query runs f between two steps of the machine, or after the last one. It reports false when there
// is no machine yet.
func (s *Session) query(f func(m *protocol.Machine, now record.Now)) bool {
	s.mu.Lock()
	l := s.loop
	s.mu.Unlock()
	if l == nil {
		return false
	}
	done := make(chan struct{})
	if s.box.Put(message{run: func(m *protocol.Machine, now record.Now) {
		f(m, now)
		close(done)
	}}) {
		<-done // the loop runs what is in its box, also at its end
		return true
	}
	<-l.over
	l.still.Lock()
	defer l.still.Unlock()
	f(l.machine, l.read())
	return true
}

func (s *Session) validate(ctx context.Context, role string, term, epoch uint64) error {
	_, err := s.command(ctx, func(id protocol.CommandID) protocol.Event {
		return protocol.Validate{ID: id, Role: role, Term: term}
	})
	if ctx.Err() == nil || err == nil {
		s.emit(event.TokenValidated{Meta: s.meta(), Role: role, Epoch: epoch, OK: err == nil, Err: err})
	}
	return err
}

// join makes the machine take part in a role. The lock of e is held.
func (s *Session) join(e *Election) {
	condition := uint64(0)
	if e.cfg.While != nil {
		e.reliance = s.rely(e.cfg.While)
		condition = e.reliance.id
	}
	if !s.box.Put(message{event: protocol.Join{Role: protocol.RoleConfig{
		Name: e.cfg.Role, Priority: int32(e.cfg.Priority), Takeover: e.cfg.AllowPriorityTakeover,
		VacateUndrained: e.cfg.VacateUndrained, Zones: e.cfg.Zones, ZonesOnly: e.cfg.ZonesOnly,
		FailBack: e.cfg.FailBackAfter, Spread: e.cfg.Spread, Group: e.cfg.Group, Apart: e.cfg.Apart,
		Condition: condition, WaitsFor: e.cfg.waitsFor(s),
	}}, run: func(m *protocol.Machine, now record.Now) {
		r := m.View().Role(e.cfg.Role)
		leader := m.View().Leader(r)
		e.leader.Store(s.loop.leaderName(leader))
		joined := event.RoleJoined{Meta: s.meta(), Role: r.Name, Leader: leader}
		if leader != "" {
			joined.Epoch = r.Revision
		}
		s.emit(joined)
		s.emit(event.CandidatesChanged{Meta: s.meta(), Role: r.Name, Candidates: m.View().Eligible(r)})
		s.loop.tellAbsent(m, now, r.Name)
	}}) {
		go e.finish(ErrClosed)
		return
	}
	if e.reliance != nil {
		e.reliance.begin()
	}
	e.startHealth()
}

// leave makes the machine leave a role; the election finishes when it has.
func (s *Session) leave(e *Election, vacate bool) {
	id := protocol.CommandID(s.commands.Add(1))
	left := func(d protocol.Done) {
		if d.Err != nil { // asked for twice, or ended: finishAll tells
			return
		}
		e.finish(nil)
	}
	s.box.Put(message{event: protocol.Leave{ID: id, Role: e.cfg.Role, Vacate: vacate}, id: id, answer: left})
	s.mu.Lock()
	idle := s.loop == nil // looked at after: a loop that begins later finds both, the joining and the leaving
	s.mu.Unlock()
	if idle {
		e.finish(nil) // the session is not open yet, and there is nothing to drain
	}
}
