package election

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// lease is a session's lease as package assign works with it, see bridge.LeaseOf. [Host] shows a
// part of it.
type lease struct {
	s             *Session
	a             *attachment
	l             *loop
	number        uint64
	trust         *trust
	changed       chan struct{}
	heartbeatDone chan struct{}
}

// Conn is the session's connection.
func (h lease) Conn() *nats.Conn { return h.l.nc }

// Bucket is the session's bucket.
func (h lease) Bucket() string { return h.s.cfg.Bucket }

// BucketID is the random id of the session's bucket.
func (h lease) BucketID() string { return h.l.bucket.Identity().ID }

// Instance is the session's instance id.
func (h lease) Instance() string { return h.s.cfg.InstanceID }

// Session is the number of the lease.
func (h lease) Session() uint64 { return h.number }

// Config is the session's configuration with its defaults.
func (h lease) Config() SessionConfig { return h.s.cfg }

// Signer proves that a frame comes from this session. Its public key is in the records of the roles
// that the session holds.
func (h lease) Signer() *fencing.Signer { return h.s.signer }

// Trusted reports whether the lease is still trusted, idle or not; it costs one reading of the
// clock. Terms need more than that: see election.Term.Valid.
func (h lease) Trusted() bool { return h.trust.left() > 0 }

// Changed gives a token when the leader of a role or a member may have changed since the last one.
// Heartbeats do not count.
func (h lease) Changed() <-chan struct{} { return h.changed }

// Drains says how long this attachment may take to return when the session is closed, from then on:
// its context has ended with ErrClosed, and the lease is kept meanwhile. Otherwise it is the
// session's DrainTimeout.
func (h lease) Drains(d time.Duration) {
	h.a.mu.Lock()
	defer h.a.mu.Unlock()
	h.a.drains = d
}

// Emit brings an event to the session's sinks and subscribers; Meta is what it should carry.
func (h lease) Emit(e event.Event) { h.s.emit(e) }

// Reports reports whether anybody is told about events now.
func (h lease) Reports() bool { return h.s.events.read() }

// Meta is what an event of this session carries.
func (h lease) Meta() event.Meta { return h.s.meta() }

// Role returns a role as this session sees it.
func (h lease) Role(name string) (RoleInfo, bool) { return h.s.Role(name) }

// Members are the members whose session is not known to be dead.
func (h lease) Members() []MemberInfo { return h.s.Members() }

// Dead reports whether a session of a member has ended for certain: by a later session, a close or
// a kill.
func (h lease) Dead(instance string, workerOnly bool, session uint64) (dead bool) {
	h.s.query(func(m *protocol.Machine, _ record.Now) {
		dead = m.View().Dead(peer(instance, workerOnly), session)
	})
	return dead
}

// Await says that this process waits for the end of a session of a member, of which nothing may be
// left in the bucket. If its lease does not come back in its time the session is ended, so that
// Dead tells it.
func (h lease) Await(instance string, workerOnly bool, session uint64) {
	h.s.post(protocol.Booked{Peer: peer(instance, workerOnly), Session: session})
}

// Unanswered says that a session of a member has not answered for two heartbeats. If it is idle it
// is ended at once, and Dead tells that. Otherwise nothing happens.
func (h lease) Unanswered(instance string, workerOnly bool, session uint64) {
	h.s.post(protocol.Unanswered{Peer: peer(instance, workerOnly), Session: session})
}

// Closed reports whether a dead session is known to have ended with nothing at work: its own
// process has closed it, or another one has ended it while it was idle.
func (h lease) Closed(instance string, workerOnly bool, session uint64) (closed bool) {
	h.s.query(func(m *protocol.Machine, _ record.Now) {
		closed = m.View().Closed(peer(instance, workerOnly), session)
	})
	return closed
}

// Busy keeps the session on short beats while it runs tasks, though it holds no role, until every
// caller of Busy(true) has called Busy(false). A session that is closed while busy is left to run
// out, as if the work of a role still ran. Its tasks then run again no sooner than after a crash.
func (h lease) Busy(busy bool) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if busy {
		h.s.busy++
	} else {
		h.s.busy--
	}
	h.s.post(protocol.Busy{Busy: h.s.busy > 0})
}

// Awake returns when a short beat is acknowledged, with no longer one sent since: an idle session
// may be ended by others at once, so nothing is begun under it. Call Busy before it.
func (h lease) Awake(ctx context.Context) error {
	for {
		awake := false
		h.s.query(func(m *protocol.Machine, _ record.Now) { awake = m.Awake() })
		if awake {
			return nil
		}
		select {
		case <-h.heartbeatDone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Refresh asks for a new watch: the present one seems to have missed something.
func (h lease) Refresh() { h.l.watcher.rebuild() }

// Describe publishes what this member offers in a namespace, nil for nothing. It returns when the
// record is stored and the session's own watch has shown it. It holds for this lease: the next one
// offers nothing before it says so. Errors: ErrSessionLost when the lease is not trusted any more.
//
// The worker may then take the orders of the leader in view. An earlier leader that would still
// send some has never seen the offer: it sees the record of its successor first, which ends its
// term, and the offer later. That is not so where the lease has offered something in the namespace
// before, and withdrawn it: that offer it may have seen. Then Describe waits until the watch has
// shown all that was written of roles before the record.
//
// A worker-only session has two watches, one over its own records and one over those of candidates,
// and they are in no order. So its own record, once shown, says nothing about roles, and a later
// record of a candidate has to be shown: its next beat, if nothing else. The argument of the first
// offer needs no order here, only that of the earlier leader's watch, which is one over everything.
func (h lease) Describe(ctx context.Context, namespace string, w *Workplace) error {
	answer, again, err := h.offer(namespace, w)
	if err == nil {
		_, err = answer(ctx)
	}
	if err == nil {
		err = h.until(ctx, func(m *protocol.Machine) bool { return m.Self().MemberDelivered() })
	}
	for passed := !again; err == nil && !passed; { // a beat shows it, and nothing tells of that
		h.s.query(func(m *protocol.Machine, _ record.Now) { passed = m.View().Passed(m.Self().MemberRevision) })
		if !passed {
			err = sleep(ctx, h.s.cfg.HeartbeatInterval/8)
		}
	}
	return err
}

// offer tells the machine what is offered now, unless that came after the end of the lease, see
// withdraw. again reports whether something was offered in the namespace before, and withdrawn.
func (h lease) offer(namespace string, w *Workplace) (
	answer func(context.Context) (string, error), again bool, err error,
) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if !h.Trusted() {
		return nil, false, ErrSessionLost
	}
	all := maps.Clone(h.s.workplaces)
	if all == nil {
		all = map[string]record.Workplace{}
	}
	if w == nil {
		if h.s.withdrawn == nil {
			h.s.withdrawn = map[string]bool{}
		}
		h.s.withdrawn[namespace] = true
		delete(all, namespace)
	} else {
		again = h.s.withdrawn[namespace]
		all[namespace] = record.Workplace{
			Slots: w.Slots, Kinds: slices.Clone(w.Kinds), Labels: maps.Clone(w.Labels), Build: w.Build,
			Alone: w.Alone, Beside: w.Beside,
		}
	}
	h.s.workplaces = all
	answer, err = h.s.order(func(id protocol.CommandID) protocol.Event { return protocol.Describe{ID: id, Assign: all} })
	return answer, again, err
}

// withdraw makes the record of the next lease offer nothing, after the trust in the last lease has
// ended. An attachment that offered something has no subscription under the next lease yet, so
// nobody would receive a message sent there. The machine is told twice: before anything else comes
// to it, since the watch may show the next lease first, and behind what was still offered under the
// last one.
func (s *Session) withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workplaces, s.withdrawn, s.told, s.room.told = nil, nil, nil, 0
	s.post(nothing)
}

// nothing is all that a new lease offers, and tells.
var nothing = protocol.Describe{Assign: map[string]record.Workplace{}, Told: map[string][]byte{}}

// Tell publishes in the member record what this member says of its work in a namespace, in place of
// what it has said there before. It does not wait: the record is written until it is stored, for as
// long as the lease lasts. The next lease says nothing. Errors: ErrSessionLost when the lease is
// not trusted any more; *TooLargeError when the record has no room for it.
func (h lease) Tell(namespace string, what []byte) error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if !h.Trusted() {
		return ErrSessionLost
	}
	all := maps.Clone(h.s.told)
	if all == nil {
		all = map[string][]byte{}
	}
	all[namespace] = what
	size := encodedSize(all)
	if err := h.s.room.check(size - h.s.room.told); err != nil {
		return err
	}
	h.s.told, h.s.room.told = all, size
	h.s.post(protocol.Describe{Told: all})
	return nil
}

// Told is what the members say of their work in a namespace, by session: of each that says
// anything, and whose session is not known to be dead.
func (h lease) Told(namespace string) (all map[uint64][]byte) {
	h.s.query(func(m *protocol.Machine, _ record.Now) {
		for _, p := range m.View().Peers() {
			if !p.Belongs() || !p.Lease.Alive() {
				continue
			}
			if what, says := p.Member.Told[namespace]; says {
				if all == nil {
					all = map[uint64][]byte{}
				}
				all[p.Session()] = what
			}
		}
	})
	return all
}

// Widen makes the session's watch carry every key of the bucket, workers included, until release is
// called. It returns when that one watch has itself delivered the record of role at epoch or later,
// and the lease of every member that was there before. Members then knows every member that may
// have taken orders from an earlier leader.
func (h lease) Widen(ctx context.Context, role string, epoch uint64) (release func(), err error) {
	h.l.watcher.asks.Add(1)
	release = h.l.watcher.widen()
	err = h.until(ctx, func(m *protocol.Machine) bool { return m.View().Carried(role, epoch) })
	if err == nil {
		err = h.seenAll(ctx, epoch)
	}
	if h.l.watcher.asks.Add(-1) == 0 {
		h.s.query(func(m *protocol.Machine, _ record.Now) { m.View().SeenAll() })
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("election: watch the whole bucket: %w", err)
	}
	return release, nil
}

// seenAll waits until the view knows every lease that stood in the bucket at a revision. A snapshot
// alone does not say so: a lease that was renewed while it was being sent may come after its end.
func (h lease) seenAll(ctx context.Context, revision uint64) error {
	keys, at, err := h.l.bucket.Keys(ctx, record.LeaseFilter)
	for err == nil && at < revision { // a server that lags
		if err = sleep(ctx, h.s.cfg.OpTimeout); err == nil {
			keys, at, err = h.l.bucket.Keys(ctx, record.LeaseFilter)
		}
	}
	if err != nil {
		return public(err)
	}
	return h.until(ctx, func(m *protocol.Machine) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return !m.View().SeenLease(key) })
	})
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End gives the lease up: every term ends, and a new lease is opened. For an attachment that can no
// longer do its part.
func (h lease) End(reason string) { h.s.post(protocol.Abandon{Session: h.number, Reason: reason}) }

// until waits for a condition on the view, looked at again whenever it has changed.
func (h lease) until(ctx context.Context, ok func(m *protocol.Machine) bool) error {
	defer func() { // the next reader has not seen the changes that passed here
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}()
	for {
		holds := false
		h.s.query(func(m *protocol.Machine, _ record.Now) { holds = ok(m) })
		if holds {
			return nil
		}
		select {
		case <-h.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func peer(instance string, workerOnly bool) record.Peer {
	if workerOnly {
		return record.Peer{Class: record.Worker, Instance: instance}
	}
	return record.Peer{Class: record.Candidate, Instance: instance}
}
