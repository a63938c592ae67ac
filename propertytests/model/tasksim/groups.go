package tasksim

import (
	"fmt"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// tallyOf is the record of a group.
type tallyOf struct {
	of     uint64
	size   int
	closed bool
	fates  []byte
}

// Times of groups, in leases: outcomes of a group are kept for so long, a group whose members are
// missing is given up, and a straggler begins so late that the outcomes of the others have left.
const (
	groupKept     = 20
	groupUnclosed = 15
	straggles     = 45
)

// submitGroups lets clients submit groups: the completion first, then its members. Some clients
// crash before the last member.
func (w *taskWorld) submitGroups() {
	if !w.Chained {
		return
	}
	straggler := w.chance(0.15)
	for n := range 2 {
		id, size := fmt.Sprint(groups.Prefix, "g", n), 1+w.rng.IntN(8)
		submitted := size
		if w.chance(0.2) {
			submitted = w.rng.IntN(size)
		}
		member := w.ofGroup()
		completion := member
		completion.after, completion.later = &groups.After{Group: size}, true
		if w.Renames { // dead members are kept for longer than their completion
			p := *member.policy
			p.Dead *= deadFactor
			member.policy = &p
		}
		w.unsure += 1 + submitted
		w.after(w.upTo(w.Length/2), func() {
			w.submit(id, completion)
			w.afterwards(id, func() {
				for i := range submitted {
					m := member
					if straggler && n == 0 && i == 0 {
						p := *m.policy // of the kind whose tasks may be delayed
						p.Kind, m.policy, m.times.Delay = "b", &p, straggles*w.Lease
					}
					w.after(w.upTo(2*w.Lease), func() { w.submit(groups.MemberID(id, i), m) })
				}
			})
		})
		if w.Renames {
			w.after(w.Lease, func() { w.useNameAgain(id, member, completion) })
		}
	}
}

// useNameAgain submits another group of a name as soon as the completion of the earlier one has
// left. The client finds members of that one that are kept for longer, and has to leave those out.
func (w *taskWorld) useNameAgain(id string, member, completion submission) {
	again := func() { w.useNameAgain(id, member, completion) }
	if w.calm {
		return
	}
	if w.lives[id] == 0 || w.store.last["q."+id] > 0 {
		w.after(w.upTo(w.Lease/2), again)
		return
	}
	completion.renewed, member.renewed = true, true
	if o, _ := w.store.write(put{"q." + id, completion, "q." + id, 0}); o != record.Won {
		return
	}
	w.Renamed++
	for i := range completion.after.Group {
		m := "q." + groups.MemberID(id, i)
		w.after(w.upTo(2*w.Lease), func() {
			if o, _ := w.store.write(put{m, member, m, 0}); o == record.Won {
				w.acked[m[2:]] = true
			} else {
				w.KeptMembers++
			}
		})
	}
	w.after(w.Lease, again)
}

// ofGroup is how tasks of a group are treated.
func (w *taskWorld) ofGroup() submission {
	s := w.treatments()[0]
	p := *s.policy
	if w.Retention > 0 {
		p.Retention, p.Dead = groupKept*w.Lease, groupKept*w.Lease
	}
	s.policy = &p
	return s
}

// afterwards continues when a task is known to be stored.
func (w *taskWorld) afterwards(id string, do func()) {
	w.after(w.Lease/4, func() {
		if !w.acked[id] {
			w.afterwards(id, do)
			return
		}
		do()
	})
}

// completes checks the completion of a group that begins: all members have ended, and the record
// that stands tells how.
func (w *taskWorld) completes(of life, size int) {
	w.Groups++
	for i := range size {
		if !slices.ContainsFunc(w.endings[groups.MemberID(of.id, i)], func(e ending) bool { return e.of > of.revision }) {
			w.fail("%s runs, and its member %d has not ended", of.id, i)
		}
	}
	r, ok := w.store.record("g." + of.id).(tallyOf)
	if !ok || r.of != of.revision || r.size != size || !r.whole() {
		w.fail("%s runs, and the record of its group is %+v", of.id, r)
	}
}

func (r *tallyOf) tally() *groups.Tally {
	t := groups.NewTally(r.size)
	t.Merge(r.closed, r.fates)
	return t
}

func (r *tallyOf) whole() bool { return r.tally().Complete() }

// fate is what a record says about a member.
func (r *tallyOf) fate(i int) groups.Fate { return groups.Fate(r.fates[i/2] >> (4 * (i % 2)) & 0xf) }

// tells checks the record of a group that has just been stored over another one.
func (w *taskWorld) tells(id string, r tallyOf, before any) {
	if old, ok := before.(tallyOf); ok && old.of == r.of && old.whole() && !r.whole() {
		w.fail("the record of %s was whole, and is not any more", id)
	}
	for i := range r.size {
		member, fate := groups.MemberID(id, i), r.fate(i)
		_, ended := w.store.record("q." + member).(tasks.Outcome)
		ended = ended && w.lives[member] > r.of
		switch {
		case !fate.Over():
		case fate == groups.Lost && ended:
			w.fail("the record of %s misses the end of %s, which is there", id, member)
		case fate != groups.Lost && !slices.ContainsFunc(w.endings[member], func(e ending) bool {
			return fates[e.status] == fate && e.of > r.of
		}):
			w.fail("by the record of %s the end of %s is %d: %+v", id, member, fate, w.endings[member])
		}
	}
}

var fates = map[tasks.Status]groups.Fate{
	tasks.StatusSucceeded: groups.Done, tasks.StatusDead: groups.Dead, tasks.StatusCancelled: groups.Cancelled,
	tasks.StatusExpired: groups.Expired,
}

// givesUp checks a group that is given up: members were missing. Or nobody led who can read the
// completion for as long as outcomes are kept.
func (w *taskWorld) givesUp(id string, a *groups.After) {
	w.GivenUp++
	if a == nil || a.Group == 0 {
		w.fail("%s is given up, and is not a group", id)
		return
	}
	for i := range a.Group {
		subject := "q." + groups.MemberID(id, i)
		n := w.store.first[subject]
		if n == 0 || w.now-w.store.log[n-1].at < groupUnclosed*w.Lease || w.store.last[subject] == 0 ||
			w.lives[subject[2:]] < w.lives[id] { // the last of these: it is of an earlier group of the name
			return
		}
	}
	w.fail("%s is given up, and all of its members were there", id)
}
