package tasksim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// reads delivers some more of the stream.
func (l *lead) reads() {
	if l.over {
		return
	}
	l.w.after(time.Millisecond+l.w.upTo(l.w.ReadLag), func() { l.p.does(l.reads) })
	if l.p.cut || !l.p.up {
		return
	}
	for n := 1 + l.w.rng.IntN(20); n > 0 && l.read < len(l.w.store.log); {
		l.read++
		r := l.w.store.log[l.read-1]
		if l.w.store.last[r.subject] != uint64(l.read) {
			continue // superseded, and gone
		}
		l.deliver(r, uint64(l.read))
		n--
	}
	if l.read >= l.snapshot && !l.caughtUp {
		l.caughtUp = true
		l.step(tasks.CaughtUp{})
	}
	l.step(l.tickNow())
}

// tickNow tells the time by the process's own clock, which may be anywhere.
func (l *lead) tickNow() tasks.Tick { return tasks.Tick{Wall: l.w.wall(l.p.at()).Add(l.p.skew)} }

func (l *lead) deliver(r stored, sequence uint64) {
	l.gaps.Read(sequence, r.over)
	family, id, _ := strings.Cut(r.subject, ".")
	_, gone := r.value.(erased)
	switch v := r.value.(type) {
	case sealOf:
		missed := uint64(0)
		if v.lead == l {
			if l.seals, l.model.late, missed = sequence, 0, l.gaps.Seal(); missed != 0 {
				l.w.Resealed++
			}
		}
		l.step(tasks.SealSeen{
			Revision: sequence, Stored: l.w.wall(r.clock), Epoch: v.epoch, Ours: v.lead == l,
			Clean: v.clean, Doubted: v.suspect, Missed: missed,
		})
		return
	case submission:
		l.model.comes(l.w.now - r.at)
		l.deliverTask(id, &v, r, sequence)
		return
	case bundleOf:
		l.deliverBundle(&v, r, sequence)
		return
	case endedOf:
		l.step(tasks.MembersEnded{Name: id, Of: v.of, Ended: v.ended})
		return
	case reserved:
		l.step(tasks.Reserved{ID: id, Revision: sequence})
		return
	case tasks.Outcome:
		l.step(tasks.Settled{
			ID: id, Revision: sequence, Status: v.Status, Attempt: v.Attempt, Kept: l.w.store.stays[sequence],
			Keyed: v.Status == tasks.StatusDead, Of: r.of,
		})
		return
	}
	switch family {
	case "b":
		l.step(tasks.BundleGone{Name: id, Revision: sequence})
	case "e": // removed with its bundle
	case "t":
		note, _ := r.value.(noteOf)
		l.step(tasks.Noted{ID: id, Revision: sequence, Stored: l.w.wall(r.clock), Retry: note.Retry, Gone: gone})
	case "c":
		l.step(tasks.Saved{ID: id, Revision: sequence, Gone: gone})
	case "x":
		l.step(tasks.CancelAsked{ID: id, Revision: sequence, Gone: gone})
	case "p":
		l.model.paused[id] = !gone
		l.step(tasks.PauseSeen{Kind: id, Revision: sequence, Paused: !gone})
	case "d":
		l.model.drained[id] = !gone
		l.step(tasks.DrainSeen{Instance: id, Revision: sequence, Draining: !gone})
	case "l":
		l.model.comes(l.w.now - r.at)
		x, _ := r.value.(limitsOf)
		l.model.limits[id] = boundBy{x, r.at}
		seen := tasks.LimitsSeen{Kind: id, Revision: sequence, Stored: l.w.wall(r.clock), Gone: gone}
		if x.declared != nil {
			seen.Declared = &x.declared.limits
		}
		if o := x.override; o != nil {
			seen.Override = &tasks.Override{Concurrency: &o.Concurrency, KeyLimit: &o.KeyLimit}
		}
		if seen.Shares = x.shares; x.instead != nil {
			seen.Override = &tasks.Override{Shares: x.instead}
		}
		if x.until != 0 {
			seen.Until = l.w.wall(x.until)
		}
		l.step(seen)
	case "u":
		u, _ := r.value.(uniqueOf)
		l.step(tasks.UniqueSeen{Key: id, Revision: sequence, Task: u.task, At: u.at})
	case "r":
		d, _ := r.value.(recurOf)
		defined := tasks.Defined{Name: id, Revision: sequence, Recurrence: d.of, Since: d.place.Start(l.w.wall(r.clock))}
		l.model.paused["r."+id] = d.place.Paused
		if d.of != nil {
			of := *d.of
			of.Paused = d.place.Paused
			defined.Recurrence = &of
		}
		if d.later && l.p.old {
			l.w.Unreadable++
			defined.Recurrence, defined.Unreadable = nil, true
		}
		l.step(defined)
	case "g":
		g, _ := r.value.(tallyOf)
		l.step(tasks.Tallied{ID: id, Of: g.of, Stored: l.w.wall(r.clock), Closed: g.closed, Fates: g.fates})
	case "k":
		k, _ := r.value.(tickOf)
		l.step(tasks.Fired{Name: id, Revision: sequence, Stored: l.w.wall(r.clock), Tick: k.tick, Last: k.last})
	default:
		l.w.fail("unexpected %T at %s", r.value, r.subject)
	}
}

// succeeded reports whether the view has shown somebody else who leads since.
func (l *lead) succeeded() bool {
	return slices.ContainsFunc(l.w.bucket.log[min(int(l.epoch), l.p.seen):l.p.seen], func(r entry) bool {
		return r.kind == roleRecord && r.session != l.session
	})
}

// members tells the scheduler what the view says, once it has carried our own role record, and
// until it has carried that of a successor: one that continues learns of nobody who has come since.
func (l *lead) members() {
	if !l.able() || l.p.seen < int(l.term) || l.succeeded() {
		return
	}
	type sight struct {
		described, draining, gone, closed bool
		told                              *tasks.Told
	}
	seen := map[uint64]sight{}
	who := map[uint64]string{}
	for _, r := range l.w.bucket.log[l.p.base:l.p.seen] {
		s := seen[r.session]
		switch r.kind {
		case leaseRecord:
			who[r.session] = r.p.name
		case memberRecord:
			s.described, s.draining = true, s.draining || r.draining
		case deathRecord:
			s.gone, s.closed = true, r.closed
		case toldRecord:
			if _, there := seen[r.session]; !there {
				continue // its lease was removed: a member record alone makes no member
			}
			s.told = r.told
		case wiped:
			delete(seen, r.session)
			continue
		default:
			continue
		}
		seen[r.session] = s
	}
	var list []tasks.Member
	var gone []uint64
	present := map[uint64]bool{}
	for _, session := range slices.Sorted(maps.Keys(seen)) {
		if s := seen[session]; s.gone {
			gone = append(gone, session)
		} else {
			present[session] = true
			list = append(list, tasks.Member{
				Instance: who[session], Session: session, Described: s.described, Works: s.described, Slots: l.w.Slots,
				Kinds:  kinds,
				Labels: map[string]string{"zone": zone(who[session])}, Build: l.w.builds[session],
				Own: who[session] == l.p.name, Draining: s.draining, Shares: l.w.shares(who[session]),
				Alone: l.w.builds[session] == laterBuild,
			})
		}
	}
	l.step(tasks.Members{List: list})
	for _, m := range list {
		if told := seen[m.Session].told; told != nil {
			l.step(*told)
		}
	}
	for _, session := range gone {
		if !l.told[session] {
			l.told[session] = true
			l.step(tasks.Dead{Session: session, Closed: seen[session].closed})
		}
	}
	l.await(present)
}
