package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// wipe loses the record of a role, and the lease and the member record of its leader, one after the
// other and not always all of them, while the leader sees nothing.
func (w *world) wipe(role string, within time.Duration) {
	c := w.store.newest(record.RoleKey(role))
	if c == nil || c.entry.Form != record.FormRecord || c.entry.Role.Vacant {
		return
	}
	left := max(Length-w.now, 0)
	leader := c.entry.Role.Holder()
	for _, p := range w.members {
		if p.alive && p.instance == leader.Instance {
			p.suffer(Fault{Kind: Blind, For: min(3*time.Second, left)}, role)
		}
	}
	lost := 0
	for _, key := range []string{record.RoleKey(role), record.LeaseKey(leader), record.MemberKey(leader)} {
		if w.chance(700) {
			lost++
			value, marker := garbage[w.rng.IntN(len(garbage))], w.chance(500)
			w.after(w.between(0, min(within, left)), func() {
				if !w.outgrown(key) {
					w.committed(w.store.put(w.now, key, value, marker))
				}
			})
		}
	}
	if lost == 3 {
		w.Counts.Wiped++
	}
}

// stepClock lets the server's clock step so far ahead that all which may expire does at once: a
// marker lies over each lease that lives, and over each vacancy. Ends and removals are forgotten,
// and nothing tells of that. The next step takes those markers.
func (w *world) stepClock() {
	for _, key := range w.store.all {
		switch c := w.store.newest(key); {
		case c == nil || c.ttl == 0 || w.outgrown(key):
		case c.marker:
			w.Counts.Forgotten++
			c.removed = true
		default:
			if c.entry.Kind == record.KindLease && c.entry.Form == record.FormRecord && c.entry.Lease.Alive() {
				w.Counts.MarkersOverLive++
			}
			m := w.store.put(w.now, key, nil, true)
			m.ttl = 2*MaxTTL + time.Second
			w.committed(m)
		}
	}
}

// claimUnseen wipes the leader that a claim has just made, before anybody else has seen that claim:
// every other watch is lost, and the next one shows only what is left. So they know the role by the
// record of somebody whose lease is shorter.
func (w *world) claimUnseen(c *commit) {
	if w.quiet || w.unseen != c.key || !w.outlasts(c) {
		return
	}
	w.unseen = ""
	w.Counts.Unseen++
	role := c.entry.Role
	within := w.between(0, role.TTL()/2)
	for _, p := range w.members {
		if p.alive && p.instance != role.ID {
			p.blind = max(p.blind, w.now+within)
			p.rebuild()
		}
	}
	w.wipe(c.entry.Name, within)
}

// outlasts reports whether a record of a role is of a leader whose lease is longer than that of the
// leader before.
func (w *world) outlasts(c *commit) bool {
	if c.entry.Form != record.FormRecord || c.entry.Role.Vacant {
		return false
	}
	past := w.store.keys[c.key]
	for i := len(past) - 2; i >= 0; i-- {
		if r := past[i].entry; r.Form == record.FormRecord {
			return c.entry.Role.TTLms > r.Role.TTLms
		}
	}
	return false
}

// outgrown reports whether a key is the lease of an instance that has come back with a longer TTL
// than it had. To delete or overwrite such a one before everybody has seen it is what the rules do
// not allow for: who knows the former lease waits for that one's TTL. (An operator who does that
// has to hit the seconds in which the instance comes back.)
func (w *world) outgrown(key string) bool {
	var last *record.Lease
	past := w.store.keys[key]
	for i := len(past) - 1; i >= 0; i-- {
		e := &past[i].entry
		switch {
		case e.Kind != record.KindLease || e.Form != record.FormRecord || e.Lease.State != record.Live:
		case last == nil:
			last = &e.Lease
		case e.Lease.Nonce != last.Nonce && e.Lease.TTLms < last.TTLms:
			return true
		}
	}
	return false
}
