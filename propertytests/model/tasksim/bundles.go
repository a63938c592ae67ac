package tasksim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// Values of the records of bundles.
type (
	bundleOf struct {
		block   string
		indexes []uint16
		members []submission
	}
	endedOf struct {
		of    uint64
		ended bundles.Set
	}
)

func (b *bundleOf) id(place int) string { return bundles.ID(b.block, int(b.indexes[place])) }

// submitBundles lets clients store submissions of several callers in one record.
func (w *taskWorld) submitBundles() {
	treatments := w.treatments()
	for i := range w.Bundles {
		b := bundleOf{block: fmt.Sprint("made.", i/2)} // those of earlier commits have two in a block
		if w.Leavers {
			b.block = fmt.Sprint("own.", i)
		}
		for index := i % 2; len(b.indexes) < 1+w.rng.IntN(8); index += 2 + 2*w.rng.IntN(2) {
			s := treatments[0]
			if w.chance(0.3) {
				s = treatments[w.rng.IntN(len(treatments))]
			}
			if s.policy.Kind == fairKind {
				s.keys = &tasks.Keys{Fair: fmt.Sprint("f", w.rng.IntN(3))}
			}
			w.ignore(&s)
			s.later = w.Versions && w.chance(0.2)
			s.fresh = w.Deploys && s.policy == treatments[0].policy && w.chance(0.5)
			b.indexes = append(b.indexes, uint16(index))
			b.members = append(b.members, s)
		}
		w.unsure++
		comes := w.upTo(w.Length * 9 / 10)
		w.claimEarly(&b, comes)
		w.after(comes, func() {
			done := false
			w.tryBundle(&b, &done)
			if w.Leavers {
				w.submitAgain(&b)
			}
		})
	}
}

// tryBundle stores a bundle, and again as it is until it is known to be there, or for too long.
// Some clients are cut off from the store meanwhile.
func (w *taskWorld) tryBundle(b *bundleOf, done *bool) {
	cut := time.Duration(0)
	if w.Leavers && w.chance(0.3) {
		cut = w.now + w.upTo(w.claimsStand()/2)
	}
	w.sendBundle(b, cut, w.now+w.claimsStand()/2, done)
}

func (w *taskWorld) sendBundle(b *bundleOf, cut, until time.Duration, done *bool) {
	there := func() {
		if *done {
			return
		}
		*done = true
		w.unsure--
		for place := range b.indexes {
			id := b.id(place)
			w.acked[id] = true
			if w.chance(0.05) {
				w.after(w.upTo(5*w.Lease), func() { w.askCancel(id) })
			}
		}
	}
	subject := "b." + b.id(0)
	on := subject
	if w.Leavers {
		on = bundlesOf(b.block)
	}
	if w.now >= cut {
		w.request(func() (record.Outcome, bool) {
			o, _ := w.store.write(put{subject, *b, on, 0})
			return o, o == record.Won || !w.Leavers
		}, func(stored bool) {
			if stored { // without claims it is there also if it was refused
				there()
			} else {
				w.refused(b, done, there)
			}
		})
	}
	w.after(w.Lease, func() {
		switch {
		case *done:
		case w.Leavers && w.now >= until: // its callers are told that their tasks may be stored
			*done = true
			w.unsure--
			w.Silent++
		default:
			w.sendBundle(b, cut, until, done)
		}
	})
}

// submitted is the submission of a task in the record that was stored at a sequence, alone or with
// others.
func (s *taskStream) submitted(id string, sequence uint64) (submission, bool) {
	switch v := s.log[sequence-1].value.(type) {
	case submission:
		return v, true
	case bundleOf:
		_, index, _ := bundles.Split(id)
		if place, ok := slices.BinarySearch(v.indexes, uint16(index)); ok {
			return v.members[place], true
		}
	}
	return submission{}, false
}

// in is the bundle in which a task is an open member, and its place there.
func (s *taskStream) in(id string) (name string, place int, open bool) {
	block, index, ok := bundles.Split(id)
	if !ok {
		return "", 0, false
	}
	for subject, n := range s.last {
		b, is := s.log[n-1].value.(bundleOf)
		if !is || b.block != block {
			continue
		}
		place, ok := slices.BinarySearch(b.indexes, uint16(index))
		if !ok {
			continue
		}
		e, _ := s.record("e." + subject[2:]).(endedOf)
		return subject[2:], place, e.of != n || !e.ended.Has(place)
	}
	return "", 0, false
}

// member is the submission of a task whose place is empty, if it is an open member of a bundle.
func (s *taskStream) member(subject string) (submission, bool) {
	id, ok := strings.CutPrefix(subject, "q.")
	if !ok {
		return submission{}, false
	}
	name, place, open := s.in(id)
	if !open {
		return submission{}, false
	}
	return s.record("b." + name).(bundleOf).members[place], true
}

// at is the sequence of what stands for a subject: that of its bundle if nothing else does.
func (s *taskStream) at(subject string) uint64 {
	if n := s.last[subject]; n > 0 || !strings.HasPrefix(subject, "q.") {
		return n
	}
	if name, _, open := s.in(subject[2:]); open {
		return s.last["b."+name]
	}
	return 0
}

// opens takes note of a bundle that was stored.
func (w *taskWorld) opens(b bundleOf, before any, revision uint64) {
	if before != nil {
		w.fail("a bundle was stored over %T", before)
	}
	w.Bundled++
	for place, s := range b.members {
		if w.lives[b.id(place)] != 0 {
			w.fail("%s was submitted again, and its bundle comes after that", b.id(place))
		}
		w.bundled[life{b.id(place), revision}] = true
		w.opened(b.id(place), s, nil, revision)
	}
}

// endedOf checks the record beside a bundle: it says of none that it has ended which has not, and
// takes nothing back.
func (w *taskWorld) endedOf(name string, e endedOf, before any) {
	w.Ends++
	b, stands := w.store.record("b." + name).(bundleOf)
	if !stands || w.store.last["b."+name] != e.of {
		w.fail("members of %s at %d are said to have ended, and it does not stand", name, e.of)
		return
	}
	old, _ := before.(endedOf)
	for place := range b.indexes {
		of := life{b.id(place), e.of}
		if ended := e.ended.Has(place); ended && !w.done[of] {
			w.fail("%s is said to have ended", of.id)
		} else if !ended && old.of == e.of && old.ended.Has(place) {
			w.fail("%s is said to have ended no more", of.id)
		}
	}
}

// removes checks that all members of a bundle that is removed have ended.
func (w *taskWorld) removes(name string, b *bundleOf) {
	w.Whole++
	for of := range w.bundled {
		if block, index, _ := bundles.Split(of.id); block == b.block && slices.Contains(b.indexes, uint16(index)) &&
			!w.done[of] {
			w.fail("the bundle %s was removed before %s has ended", name, of.id)
		}
	}
}

// wholly checks a write as a whole: a member of a bundle whose outcome was stored is open no more.
func (w *taskWorld) wholly(all []put) {
	for _, p := range all {
		_, ended := p.value.(tasks.Outcome)
		if id, is := strings.CutPrefix(p.subject, "q."); is && ended {
			if _, _, open := w.store.in(id); open {
				w.fail("%s has ended, and its bundle does not know it", id)
			}
		}
	}
}

// awaits reports whether a bundle has a member that has not ended.
func (w *taskWorld) awaits(b *bundleOf, revision uint64) bool {
	for place := range b.indexes {
		if !w.done[life{b.id(place), revision}] {
			return true
		}
	}
	return false
}

// along is what goes along with the outcomes of members.
func (l *lead) along(members []bundles.Member) (all []put) {
	for _, r := range l.s.Bundles(members) {
		switch {
		case !r.Whole:
			all = append(all, put{subject: "e." + r.Name, value: endedOf{r.Of, r.Ended}})
		case r.Told:
			all = append(all, put{subject: "e." + r.Name, value: erased{}})
			fallthrough
		default:
			all = append(all, put{subject: "b." + r.Name, value: erased{}})
		}
	}
	return all
}

// deliverTask gives the rules a submission.
func (l *lead) deliverTask(id string, v *submission, r stored, sequence uint64) {
	if v.later && l.p.old {
		l.w.Opaque++
		l.step(tasks.Opaque{ID: id, Revision: sequence})
		return
	}
	l.step(tasks.Submitted{
		ID: id, Revision: sequence, Policy: v.policy, Times: v.times, Keys: v.keys,
		Stored: l.w.wall(r.clock), After: v.after,
	})
}

func (l *lead) deliverBundle(b *bundleOf, r stored, sequence uint64) {
	l.model.comes(l.w.now - r.at)
	l.step(tasks.Bundled{Name: b.id(0), Revision: sequence, Indexes: b.indexes})
	for place := range b.members {
		l.deliverTask(b.id(place), &b.members[place], r, sequence)
	}
}
