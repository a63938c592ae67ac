package election

import (
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// execute does what the machine wants, and never waits for it.
func (l *loop) execute(effect protocol.Effect) {
	switch e := effect.(type) {
	case protocol.Write:
		l.write(e)
	case protocol.WriteTogether:
		l.writeTogether(e)
	case protocol.RebuildWatch:
		l.s.emit(event.Fault{Meta: l.s.meta(), Doing: "watch bucket", Err: errors.New(e.Reason), Attempts: 1})
		l.watcher.rebuild()
	case protocol.Widen:
		l.watcher.suit(l.width, e)
		l.width = e
	case protocol.BeginTerm:
		if el := l.s.election(e.Role); el != nil {
			l.led[e.Role] = el
			l.s.begin(el, e)
		} else { // nobody is there to work
			l.s.post(protocol.Returned{Role: e.Role, Term: e.Epoch})
		}
	case protocol.EndTerm:
		if el := l.led[e.Role]; el != nil {
			delete(l.led, e.Role)
			l.s.end(el, e)
		} else {
			l.s.post(protocol.Drained{Role: e.Role, Term: e.Term})
		}
	case protocol.Rotated:
		if el := l.led[e.Role]; el != nil {
			el.rotate(e)
		}
	case protocol.Ask:
		l.control.ask(e)
	case protocol.Wake:
		l.control.wake(e)
	case protocol.Done:
		if answer := l.waiting[e.ID]; answer != nil {
			delete(l.waiting, e.ID)
			answer(e)
		}
	case protocol.Opened:
		l.opened(e)
	case protocol.Lost:
		l.lost(e)
	case protocol.Ended:
		l.end(e)
	default:
		l.tell(effect)
	}
}

func (l *loop) write(w protocol.Write) {
	l.guard.Writes(w.Key, w.Value, w.Delete)
	l.writer.Submit(operation(w), l.s.cfg.OpTimeout, func(r natskv.Result) {
		if r.Outcome == natskv.Won {
			l.guard.Wrote(w.Key, w.Value, w.Delete, r.Revision)
		}
		written := protocol.Written{ID: w.ID, Outcome: outcomes[r.Outcome], Revision: r.Revision}
		if r.Outcome == natskv.Unknown && natskv.TooLarge(r.Err) {
			l.wg.Go(func() { l.tooLarge(written, len(w.Value)) }) // it asks the server
			return
		}
		m := message{}
		if r.Outcome == natskv.Unknown {
			m.fault = r.Err
			if natskv.Permanent(r.Err) && !errors.Is(r.Err, natskv.ErrClosed) {
				written.Fault = public(r.Err)
				written.Denied = errors.Is(written.Fault, ErrPermission)
			}
		}
		m.event = written
		l.s.box.Put(m)
	})
}

// toGuard is the line to the guard of this process, nil when it has none. A session without a guard
// works as well: its TTL decides.
func (s *Session) toGuard(bucket *natskv.Bucket) *guardlink.Line {
	broken := func(err error) {
		s.emit(event.Fault{Meta: s.meta(), Doing: "tell the guard", Err: err, Attempts: 1})
	}
	link, err := guardlink.Present()
	if err != nil {
		broken(err)
	}
	at := guardlink.Place{
		Bucket: bucket.Name(), ID: bucket.Identity().ID, Domain: s.cfg.Domain, Prefix: s.cfg.APIPrefix,
	}
	return link.Line(at, record.LeaseKey(peer(s.cfg.InstanceID, s.cfg.WorkerOnly)), broken)
}

// writeTogether sends writes in one batch. If one of them is to blame for a refusal, that shows
// when it is sent alone: so only a fault of the bucket or the connection counts here.
func (l *loop) writeTogether(e protocol.WriteTogether) {
	ops := make([]natskv.Write, len(e.Writes))
	for i, w := range e.Writes {
		ops[i] = operation(w)
	}
	l.writer.SubmitEach(ops, l.s.cfg.OpTimeout, func(r natskv.Result) {
		written := protocol.WrittenTogether{
			ID: e.ID, Outcome: outcomes[r.Outcome], Revision: r.Revision, Off: natskv.BatchesOff(r.Err),
		}
		m := message{}
		switch {
		case r.NoneStored || natskv.TooLarge(r.Err):
			written.Outcome = record.Refused
		case r.Outcome == natskv.Unknown:
			m.fault = r.Err
			if natskv.Permanent(r.Err) && !errors.Is(r.Err, natskv.ErrClosed) {
				written.Fault = public(r.Err)
			}
		}
		m.event = written
		l.s.box.Put(m)
	})
}

func operation(w protocol.Write) natskv.Write {
	op := natskv.Write{Key: w.Key, Value: w.Value, Delete: w.Delete, Expect: w.Expect, TTL: w.TTL}
	if w.GuardKey != "" {
		op.Guard = &natskv.Guard{Key: w.GuardKey, Revision: w.GuardRevision}
	}
	return op
}

var outcomes = map[natskv.Outcome]record.Outcome{
	natskv.Unknown: record.Unknown, natskv.Won: record.Won, natskv.Refused: record.Refused,
}

// opened begins a lease: a trust of its own, and the attachments.
func (l *loop) opened(e protocol.Opened) {
	s := l.s
	s.number.Store(e.Session)
	s.trust = newTrust(s.cfg.clock)
	s.trust.extend(l.machine.TrustedUntil(), l.machine.LeaseUntil())
	s.present.Store(s.trust)
	s.emit(event.SessionOpened{Meta: s.meta(), TTL: s.cfg.TTL})
	select {
	case <-s.ready:
	default:
		close(s.ready)
	}
	for _, a := range s.attachments() {
		a.begin(l, e.Session)
	}
	if l.bucket.Adopted() {
		l.tellAbsent(l.machine, l.now, s.campaigns()...)
	}
}

func (l *loop) lost(e protocol.Lost) {
	s := l.s
	s.trust.end()
	for _, a := range s.attachments() {
		a.end(ErrSessionLost)
	}
	l.bare = true
	l.tellLeaders()
	s.withdraw()
	s.emit(event.SessionLost{Meta: s.meta(), Reason: "lost", Cause: errors.New(e.Reason)})
	s.number.Store(0)
}

func (l *loop) end(e protocol.Ended) {
	s := l.s
	l.ended = true
	s.trust.end()
	if e.Closed != "" {
		l.guard.Closed(e.Closed)
	}
	if s.err = public(e.Fault); s.err != nil {
		s.emit(event.SessionLost{Meta: s.meta(), Reason: "fault", Cause: s.err})
	}
	l.undrained = e.Undrained
}

// closeAfter closes the lease of a session that has ended by a missing permission, so that nobody
// has to wait for it: not who takes its roles over, nor this process when it starts again. The
// lease is left to run out if work still runs. After other faults the bucket is not there, or not
// the one that was opened.
func (l *loop) closeAfter(fault error) {
	s := l.s
	s.mu.Lock()
	busy := s.busy > 0
	s.mu.Unlock()
	if busy || !errors.Is(fault, ErrPermission) || !l.nc.IsConnected() || !within(s.cfg.DrainTimeout, &s.terms) {
		return
	}
	w, lease, ok := l.machine.LastWill()
	if !ok {
		return
	}
	written := make(chan natskv.Outcome, 1) // nobody may be waiting
	l.writer.Submit(operation(w), s.cfg.OpTimeout, func(r natskv.Result) { written <- r.Outcome })
	if <-written == natskv.Won {
		l.guard.Closed(lease)
	}
}

func (l *loop) connection(up bool, status nats.Status) {
	l.s.up.Store(up)
	l.s.emit(event.ConnectionChanged{Meta: l.s.meta(), Connected: up, Status: status.String()})
	l.s.post(protocol.Connection{Up: up})
}

// leaderName is a leader as elections hold it: the thousands that one process may lead share it.
func (l *loop) leaderName(leader string) *string {
	if l.lately == nil || *l.lately != leader {
		l.lately = &leader
	}
	return l.lately
}

// tell passes a notice on as an event.
func (l *loop) tell(notice protocol.Effect) {
	s, meta := l.s, l.s.meta()
	if e := noticeEvent(meta, notice); e != nil {
		s.emit(e)
	}
	switch n := notice.(type) {
	case view.LeaderChanged:
		if el := s.election(n.Role); el != nil {
			el.leader.Store(l.leaderName(n.Leader))
			l.leaders.changed(el)
		}
	case protocol.Beat:
		if n.Outcome == record.Won {
			s.heartbeatAt.Store(meta.Time.UnixNano())
			s.rtt.Store(int64(n.Took))
			for _, a := range s.attachments() {
				a.beat()
			}
		}
		s.emit(event.Heartbeat{
			Meta: meta, Duration: n.Took, Outcome: n.Outcome.String(), Revision: n.Revision, Idle: n.Idle,
		})
	case protocol.RoleUnplaced:
		s.emit(event.Fault{Meta: meta, Doing: "place a role", Role: n.Role, Err: ErrUnplaced, Attempts: 1})
	case protocol.Retrying:
		s.emit(event.Fault{
			Meta: meta, Doing: n.Doing, Role: n.Role, Err: l.lastFault(), Attempts: n.Attempts, Slow: n.Slow,
		})
	}
	l.pulse(notice)
}

// pulse wakes the attachments when what they see of the bucket has changed.
func (l *loop) pulse(notice protocol.Effect) {
	switch notice.(type) {
	case view.LeaderChanged, view.MemberJoined, view.MemberLeft, view.MemberChanged, view.RoleVacant:
		l.pulseAll()
	}
}

func (l *loop) pulseAll() {
	for _, a := range l.s.attachments() {
		a.pulse()
	}
}

// noticeEvent is the event of a notice that an observer can tell too, nil for the others.
func noticeEvent(meta event.Meta, notice protocol.Effect) event.Event {
	switch n := notice.(type) {
	case view.LeaderChanged:
		return event.LeaderChanged{Meta: meta, Role: n.Role, Leader: n.Leader, Epoch: n.Epoch}
	case view.RoleVacant:
		return event.RoleVacant{Meta: meta, Role: n.Role, By: n.By, Reason: n.Reason, Epoch: n.Epoch}
	case view.CandidatesChanged:
		return event.CandidatesChanged{Meta: meta, Role: n.Role, Candidates: n.N}
	case protocol.RoleStuck:
		return event.RoleStuck{Meta: meta, Role: n.Role, Epoch: n.Epoch, Since: n.Since}
	case view.MemberJoined:
		return event.MemberJoined{Meta: meta, Member: n.Peer.Instance, MemberSession: n.Session}
	case view.MemberLeft:
		return event.MemberLeft{Meta: meta, Member: n.Peer.Instance, Reason: n.Reason}
	case protocol.PeerKilled:
		return event.SessionKilled{Meta: meta, Victim: n.Peer.Instance, VictimSession: n.Session}
	case view.Ignored:
		return event.RecordIgnored{Meta: meta, Key: n.Key, Reason: n.Reason}
	case protocol.Claimed:
		return event.ClaimAttempted{Meta: meta, Role: n.Role, Outcome: n.Outcome.String(), Duration: n.Took}
	}
	return nil
}

// capacityOf is what the member record says. One as everybody has is not written.
func capacityOf(c SessionConfig) int {
	if c.Capacity == 1 {
		return 0
	}
	return c.Capacity
}

func (s *Session) machineConfig(bucket *natskv.Bucket) protocol.Config {
	class := record.Candidate
	if s.cfg.WorkerOnly {
		class = record.Worker
	}
	c := s.cfg
	return protocol.Config{
		Instance: c.InstanceID, Class: class, Key: s.signer.PublicKey(), TTL: c.TTL, Heartbeat: c.HeartbeatInterval,
		OpTimeout: c.OpTimeout, Margin: c.SafetyMargin, Grace: c.DisconnectGracePeriod, Delta: c.SuccessionDelay,
		Drain: c.DrainTimeout, CoolDown: c.CoolDown, Rotation: c.RotationInterval, MaxTTL: bucket.MaxTTL(),
		Adopted:  bucket.Adopted(),
		Capacity: capacityOf(c), MaxRoles: c.MaxRoles, Zone: c.Zone,
		IdleFactor: c.IdleFactor, NewID: newID, Rand: random,
	}
}
