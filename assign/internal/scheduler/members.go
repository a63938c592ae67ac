package scheduler

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// members gives the rules the members of the bucket, after it has made the session's watch carry
// every member.
type members struct {
	*term
	loop
	peers      peers
	dispatcher *dispatcher
	answers    *answers

	widened chan func()     // the watch carries every member; the function gives the width back. Size 1: sent once.
	narrow  func()          // gives the width back, nil while the watch is narrow
	awaited map[uint64]bool // sessions whose end the host was asked to wait for
	changed <-chan struct{} // the members have changed; nil while the watch is narrow
}

func newMembers(t *term, l loop, p peers, d *dispatcher, a *answers) *members {
	return &members{
		term: t, loop: l, peers: p, dispatcher: d, answers: a, widened: make(chan func(), 1),
		awaited: map[uint64]bool{},
	}
}

// widen makes the session's watch carry every member, and tells the loop when it does: nothing is
// handed out before. A connection that is lost meanwhile fails the attempt, not the term, so widen
// tries until ctx ends.
func (m *members) widen(ctx context.Context) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	for attempts := 1; ; attempts++ {
		narrow, err := m.host.Widen(ctx, m.cfg.Role, m.first)
		if err == nil {
			m.widened <- narrow
			return
		}
		if ctx.Err() != nil {
			return
		}
		m.emit(event.Fault{Meta: m.host.Meta(), Role: m.cfg.Role, Doing: "watch every member", Err: err, Attempts: attempts})
		timer := time.NewTimer(pace.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// begin starts to follow the members, once the watch carries every one.
func (m *members) begin(narrow func()) {
	m.narrow = narrow
	m.changed = m.host.Changed()
	m.apply()
}

// apply tells the rules which members are present, and which of the members that they know are
// certainly dead. Once the watch has shown a successor the term ends, and it learns of nobody who
// has come since: the successor does not ask those what they hold. The members are read before the
// role, so none of them can have come behind a successor that is not seen.
func (m *members) apply() {
	own := m.host.Session()
	all := m.host.Members()
	if r, known := m.host.Role(m.cfg.Role); known && r.Revision > m.epoch && r.Session != own {
		return
	}
	list := make([]tasks.Member, 0, len(all))
	present := make(map[uint64]bool, len(all))
	for i := range all {
		x := &all[i]
		place, works := x.Assign[m.cfg.Namespace]
		if x.Session == own && !m.cfg.SchedulerWorks {
			place.Slots = 0
		}
		present[x.Session] = true
		m.peers[x.Session] = peer{x.Instance, x.WorkerOnly}
		list = append(list, tasks.Member{
			Instance: x.Instance, Session: x.Session, Described: x.Described, Works: works, Draining: x.Draining,
			Slots: place.Slots, Kinds: place.Kinds, Labels: place.Labels, Build: place.Build, Own: x.Session == own,
			Shares: shares(place.Labels), Alone: place.Alone, Beside: place.Beside,
		})
	}
	m.step(tasks.Members{List: list})
	if !m.rules.Ready() {
		for session, message := range m.host.Told(m.cfg.Namespace) {
			m.answers.told(session, message)
		}
	}
	for _, session := range m.rules.Sessions() {
		p := m.peers[session]
		switch {
		case present[session]:
		case m.host.Dead(p.instance, p.workerOnly, session):
			delete(m.awaited, session)
			m.dispatcher.forget(session)
			m.answers.forget(session)
			m.step(tasks.Dead{Session: session, Closed: m.host.Closed(p.instance, p.workerOnly, session)})
		case !m.awaited[session]: // the bucket may have forgotten it: nobody else would ever end it
			m.awaited[session] = true
			m.host.Await(p.instance, p.workerOnly, session)
		}
	}
	if len(m.peers) > 2*len(all)+64 {
		m.peers.keep(m.rules.Sessions())
	}
}

// shares is what a worker may be lost with, by its labels.
func shares(labels map[string]string) (all []string) {
	for _, name := range [...]string{"host", "zone"} {
		if value := labels[name]; value != "" {
			all = append(all, name+" "+value)
		}
	}
	return all
}

// unanswered has the session of a worker ended that does not answer, if it is idle.
func (m *members) unanswered(e tasks.Unanswered) {
	m.host.Unanswered(e.Instance, m.peers[e.Session].workerOnly, e.Session)
}

// end gives the width of the watch back.
func (m *members) end() {
	select {
	case narrow := <-m.widened:
		narrow()
	default:
	}
	if m.narrow != nil {
		m.narrow()
	}
}

// peers are the workers that the rules know, by session.
type peers map[uint64]peer

// peer is how the session of a worker is found in the bucket.
type peer struct {
	instance   string
	workerOnly bool
}

// keep drops all peers but those of the given sessions.
func (p peers) keep(sessions []uint64) {
	kept := make(map[uint64]bool, len(sessions))
	for _, s := range sessions {
		kept[s] = true
	}
	for s := range p {
		if !kept[s] {
			delete(p, s)
		}
	}
}
