package electionsim

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// goBack makes the bucket lose its newest writes, acknowledged or not: a few of them, those of a
// while, or those since the next record of a role that is about to be written.
func (w *world) goBack(f Fault) {
	s := w.store
	switch f.Who % 3 {
	case 0:
		w.lose(s.next() - 1 - min(w.rng.Uint64N(8), uint64(len(s.log))))
	case 1:
		i, _ := slices.BinarySearchFunc(s.log, w.now-f.For/4, func(c *commit, at time.Duration) int { return int(c.at - at) })
		w.lose(s.first + uint64(i))
	default:
		w.doomed, w.doom = record.RoleKey(roleName(f.Role%w.plan.Roles)), f.For/8
	}
}

// doomedBy makes the bucket lose what was written since a record that was waited for.
func (w *world) doomedBy(c *commit) {
	if w.doomed != c.key || w.quiet {
		return
	}
	w.doomed = ""
	w.after(w.between(0, w.doom), func() { w.lose(c.entry.Revision) })
}

// lose takes the bucket back to before a revision; the next write gets that one again. Of several
// replicas one may keep what the others have lost, and is never brought into line. Some processes
// are cut off meanwhile, some make a new watch, and the watches of some continue.
func (w *world) lose(from uint64) {
	s := w.store
	if from = max(from, s.first); w.quiet || from >= s.next() {
		return
	}
	w.trace.add(w.now, nil, "bucket", fmt.Sprintf("loses revisions %d to %d", from, s.next()-1))
	if !s.single && w.stray == nil && w.rng.IntN(3) == 0 {
		w.stray = s.copied()
	}
	w.Counts.Losses++
	w.Counts.LostWrites += int(s.next() - from)
	w.lostAt, s.restored = w.now, true
	lost := s.truncate(from)
	s.lost = append(s.lost, lost...)
	w.forgetEpochs(from)
	for _, p := range w.members {
		if slices.ContainsFunc(lost, p.hasBeaten) {
			p.beatLostAt = w.now
		}
		for _, t := range p.work {
			p.checkStands(t)
		}
		if !p.alive {
			continue
		}
		switch w.rng.IntN(3) {
		case 0:
			p.cut(w.between(0, 2*time.Second))
		case 1:
			p.rebuild()
		case 2:
			p.watchOn(from)
		}
	}
}

// watchOn lets a watch continue though writes were lost. It is of a replica that had not come to
// them; or of the one that keeps them, and shows them. No other watch outlives that its replica
// goes back.
func (p *process) watchOn(from uint64) {
	f := p.feed
	switch {
	case f == nil || f.in != p.w.store || uint64(f.next) <= from-f.in.first:
	case p.w.stray != nil:
		f.in = p.w.stray
	default:
		p.rebuild()
	}
}

// hasBeaten reports whether c is a beat of a process's present session.
func (p *process) hasBeaten(c *commit) bool {
	return p.session != 0 && c.entry.Kind == record.KindLease && c.entry.Peer == p.peer() && c.entry.Lease.Alive() &&
		(c.entry.Lease.Session == p.session || c.entry.Revision == p.session)
}

// truncate takes a revision and all later ones away.
func (s *store) truncate(from uint64) (lost []*commit) {
	s.log, lost = s.log[:from-s.first], slices.Clone(s.log[from-s.first:])
	for _, c := range lost {
		c.lost = true
	}
	for key, past := range s.keys {
		s.keys[key] = slices.DeleteFunc(past, func(c *commit) bool { return c.entry.Revision >= from })
	}
	s.all = slices.DeleteFunc(s.all, func(key string) bool { return len(s.keys[key]) == 0 })
	return lost
}

// copied is the bucket as it is now, to which nothing comes any more.
func (s *store) copied() *store {
	c := newStore()
	c.first, c.log, c.all = s.first, slices.Clone(s.log), slices.Clone(s.all)
	for key, past := range s.keys {
		c.keys[key] = slices.Clone(past)
	}
	return c
}

// forgetEpochs lets epochs that are lost be granted again.
func (w *world) forgetEpochs(from uint64) {
	clear(w.epochs)
	clear(w.store.epochs)
	for epoch := range w.granted {
		if epoch >= from {
			delete(w.granted, epoch)
			continue
		}
		if role := w.store.at(epoch).entry.Name; epoch > w.epochs[role] {
			w.epochs[role], w.store.epochs[role] = epoch, epoch
		}
	}
}

// bringIntoLine takes out the replica that has kept what the others have lost, as an operator has
// to.
func (w *world) bringIntoLine() {
	stray := w.stray
	w.stray = nil
	for _, p := range w.members {
		if stray != nil && p.alive && p.feed != nil && p.feed.in == stray {
			p.rebuild()
		}
	}
}
