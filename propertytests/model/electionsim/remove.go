package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// abandon makes everybody leave a role for L_max and a while. An operator looks at it again and
// again, until it may be removed, and removes it.
func (w *world) abandon(role string, away time.Duration) {
	away += MaxTTL + 2*time.Second
	for _, p := range w.members {
		if !p.plan.Worker {
			p.stayAway(role, away+w.between(0, time.Second))
		}
	}
	w.lookAt(role, w.now+away)
}

func (w *world) lookAt(role string, until time.Duration) {
	w.after(w.between(100*time.Millisecond, time.Second), func() {
		if w.now > until || w.store.deleted {
			return
		}
		// Candidates give up a role of the dead first, as a rule.
		if revision, ended := w.removable(role); revision != 0 && (!ended || w.chance(30)) {
			delay := w.between(0, 500*time.Millisecond)
			if w.chance(200) {
				delay *= 20 // members come back meanwhile
			}
			w.after(delay, func() { w.removeRole(role, revision, ended) })
			return
		}
		w.lookAt(role, until)
	})
}

// removable is the revision of a role that may be removed, by what stands in the bucket, 0 if it
// may not; and whether a session holds it that has ended.
func (w *world) removable(role string) (revision uint64, ended bool) {
	v, n := view.New[struct{}, struct{}](MaxTTL), view.News[struct{}, struct{}]{}
	v.BeginWatch(view.Watch{Wide: true}, record.Peer{})
	for _, c := range w.store.snapshot(w.store.next()) {
		v.Deliver(record.Instant(c.at), &c.entry, &n)
	}
	v.EndSnapshot(record.Instant(w.now), nil, &n)
	r := v.Role(role)
	if r == nil {
		return 0, false
	}
	switch why, _, _ := v.Removal(record.Instant(w.now), r); why {
	case view.Removable:
		return r.Revision, false
	case view.RemovalEnded:
		return r.Revision, true
	}
	return 0, false
}

func (w *world) removeRole(role string, revision uint64, ended bool) {
	vacancy := record.Encode(record.Role{V: record.Version, TTLms: MaxTTL.Milliseconds(), Vacant: true, Reason: "removed"})
	x := protocol.Write{Key: record.RoleKey(role), Value: vacancy, Delete: true, Expect: revision, TTL: MaxTTL}
	if ended {
		x.Value, x.TTL = nil, view.Tombstone(MaxTTL)
	}
	c := w.store.write(w.now, x)
	if c == nil {
		w.Counts.KeptRoles++
		return
	}
	w.Counts.Removed++
	w.Counts.RemovedHeld += count(ended)
	w.committed(c)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// note counts what a write has replaced.
func (s *store) note(past, c *commit) {
	switch {
	case past == nil || c.entry.Kind != record.KindRole:
	case c.entry.Form == record.FormRemoved && past.entry.Form == record.FormRecord && !past.entry.Role.Vacant:
		s.unwanted++
		s.abandoned += count(c.entry.Role.Reason == protocol.Abandoned)
	case c.entry.Form != record.FormRecord:
	case past.entry.Form == record.FormRemoved && !c.entry.Role.Vacant:
		s.reclaimed++
	case past.entry.Form == record.FormRecord && !past.entry.Role.Vacant && c.entry.Role.Reason == protocol.Abandoned:
		s.abandoned++
	case past.entry.Form == record.FormRecord && past.entry.Role.Vacant && c.entry.Role.Vacant:
		s.kept++
	}
}
