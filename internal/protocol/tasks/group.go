package tasks

import (
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// A group is tasks whose ends another task waits for: its completion. That one is submitted first,
// and says how many members there are. It is blocked until all of them have ended, and is a task
// like others then: so it has one outcome.
//
// The ends of the members are in the stream: in the outcomes, which are kept for a day at least,
// and in a record of the group, which tells of all that ended a while ago. So no end is missed,
// though the outcomes leave before the group is complete.
//
// Invariant: a completion is let go only when a record stands that tells how all members have
// ended. No later one changes that: a member that is requeued then is counted no more.
type group struct {
	tally    *groups.Tally
	size     int
	deadline Instant // of the completion, which has an earlier one as long as members are missing
	stands   bool    // the record that stands tells the ends of all members
	written  Instant // when it was, by the stream's clock; 0: not known
	due      Instant // when it is written again at the earliest, unless it is whole; 0: at the next look
	write    *write  // of its record, nil: none is under way
}

// rewriteTally is the age at which the record of a group that is open is written again. It leaves
// after a multiple of that.
const rewriteTally = 24 * time.Hour

// tallyLooks is how often within TallyEvery all groups are looked at. A new one is recorded at the
// next look, so that it is found soon. Most small groups are complete before, and need one record.
const tallyLooks = 10

// beginGroup makes a completion wait for its members, which are submitted after it.
func (s *Scheduler) beginGroup(t *task, size int) {
	s.groups[t.id()] = &group{tally: groups.NewTally(size), size: size, deadline: t.deadline}
	s.expiring.Remove(t)
	t.deadline = min(t.deadline, t.stored.Add(s.cfg.Unclosed))
	s.expiring.Add(t, t.deadline)
	if s.tallyAt <= s.now { // there was no group: its members come first
		s.tallyAt = s.now.Add(s.cfg.TallyEvery / tallyLooks)
	}
}

// endGroup forgets the group of a completion that leaves the state. Its record says all that there
// is to say, and leaves by itself.
func (s *Scheduler) endGroup(t *task) {
	if g := s.groups[t.id()]; g != nil {
		if g.write != nil {
			delete(s.writes, g.write.number)
		}
		delete(s.groups, t.id())
	}
}

// tellGroup takes down what has become of a task, if it is a member of a group that is open. of is
// its submission, 0: not known.
//
// Invariant: what was submitted before the completion is a member of an earlier group of that name.
// Its end may have been written again since. Neither does that a record is gone say that a member
// has ended which was not submitted so far.
func (s *Scheduler) tellGroup(id string, f groups.Fate, of uint64) {
	if len(s.groups) == 0 {
		return
	}
	completion, index, ok := groups.MemberOf(id)
	g := s.groups[completion]
	if !ok || g == nil || of > 0 && of < s.tasks.get(completion).revision ||
		f == groups.Lost && g.tally.Fate(index) == groups.Unseen {
		return
	}
	g.tally.Set(index, f)
	s.closeGroup(completion, g)
	s.judgeGroup(completion)
}

// closeGroup gives a completion its own deadline when all members have been submitted.
func (s *Scheduler) closeGroup(completion string, g *group) {
	t := s.tasks.get(completion)
	if !g.tally.Closed() || t.deadline == g.deadline {
		return
	}
	s.expiring.Remove(t)
	if t.deadline = g.deadline; t.deadline != never {
		s.expiring.Add(t, t.deadline)
	}
}

// unclosed reports whether the time of a completion is over because members are missing.
func (s *Scheduler) unclosed(t *task) bool {
	g := s.groups[t.id()]
	return g != nil && t.phase == blocked && t.deadline < g.deadline
}

// judgeGroup lets a completion go once the record stands that tells the ends of all members.
func (s *Scheduler) judgeGroup(completion string) {
	g, t := s.groups[completion], s.tasks.get(completion)
	switch {
	case !s.settled || t.phase != blocked || !g.tally.Complete():
	case g.stands:
		s.unblock(t)
	default:
		s.recordGroup(completion, g)
	}
}

// recordGroup writes the record of a group; one at a time, so that none takes the place of a later
// one.
func (s *Scheduler) recordGroup(completion string, g *group) {
	if g.write == nil {
		g.write = &write{kind: tallyWrite, id: completion}
		s.send(g.write)
	}
}

func (s *Scheduler) sendTally(w *write) {
	g, t := s.groups[w.id], s.tasks.get(w.id)
	w.whole = g.tally.Complete()
	closed, fates := g.tally.Record()
	s.emit(WriteTally{
		w.number, w.guard, w.id, t.revision, g.size, closed, fates, max(t.policy.Retention, t.policy.Dead),
	})
}

// tallied continues after the record of a group is stored.
func (s *Scheduler) tallied(w *write) {
	g := s.groups[w.id]
	g.write, g.written = nil, s.clock.Now
	g.due = s.now.Add(s.cfg.TallyEvery - s.cfg.TallyEvery/tallyLooks)
	g.stands = g.stands || w.whole
	s.judgeGroup(w.id)
}

func (e Tallied) apply(s *Scheduler) {
	g, t := s.groups[e.ID], s.tasks.get(e.ID)
	if g == nil || e.Of != t.revision || len(e.Fates) != (g.size+1)/2 {
		return // of an earlier group of that name
	}
	whole := groups.NewTally(g.size)
	whole.Merge(e.Closed, e.Fates)
	g.stands = g.stands || whole.Complete()
	g.tally.Merge(e.Closed, e.Fates)
	if !e.Stored.IsZero() {
		g.written = s.clock.Instant(e.Stored)
	}
	s.closeGroup(e.ID, g)
	s.judgeGroup(e.ID)
}

// tidyGroups begins when all has been read: a member that was submitted and is not open has ended.
func (s *Scheduler) tidyGroups() {
	for _, completion := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[completion]
		g.tally.Lose(func(index int) bool {
			_, open := s.stands(groups.MemberID(completion, index))
			return open
		})
		s.judgeGroup(completion)
	}
}

// tendGroups records now and then what has become of members: within a second after the submission
// of a group, and every ten seconds then.
func (s *Scheduler) tendGroups() {
	if !s.settled || s.now < s.tallyAt || len(s.groups) == 0 {
		return
	}
	s.tallyAt = s.now.Add(s.cfg.TallyEvery / tallyLooks)
	var due []string
	for completion, g := range s.groups {
		if g.tally.Fresh() && s.now >= g.due || s.clock.Now.Sub(g.written) >= rewriteTally {
			due = append(due, completion)
		}
	}
	slices.Sort(due)
	for _, completion := range due {
		s.recordGroup(completion, s.groups[completion])
	}
}

// fateOf is what becomes of a member by its outcome. An outcome that is gone says nothing.
func fateOf(status Status) groups.Fate {
	switch status {
	case StatusSucceeded:
		return groups.Done
	case StatusDead:
		return groups.Dead
	case StatusCancelled:
		return groups.Cancelled
	case StatusExpired:
		return groups.Expired
	case StatusSkipped:
		return groups.Skipped
	}
	return groups.Lost
}
