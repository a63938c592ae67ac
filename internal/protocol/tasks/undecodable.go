package tasks

import (
	"slices"
	"strings"
	"time"
)

// In a rolling deploy some workers cannot decode an input that others can. So what a worker cannot
// decode is not a failure of the task: workers of other builds try it first. It counts as a failed
// attempt, with a backoff, when every build has rejected it, after three rejections, or after a
// minute without a worker of another build. A task whose attempts have hardly a bound has one here.
//
// The builds that have rejected a task are known until the term ends. They are not given it again.

const (
	maxRejections  = 3  // of an attempt
	maxUndecoded   = 25 // attempts that fail so
	maxBuilds      = 16 // that are remembered of a task
	undecodedAfter = time.Minute
	maxUndecodable = 1024 // tasks that are looked at in one step
	maxSaid        = 1024 // tasks of which it is known what the last rejection said
)

// undecoded is what is known about a task whose input a worker could not decode.
type undecoded struct {
	builds     []string // in order; never changed in place
	rejections int      // since it last counted as a failure
	until      Instant  // when it counts as one that nobody else has come, 0: it does not wait for that
	said       any      // the body of the last rejection, for the outcome
}

// lonely is a task that waits for a worker of another build.
type lonely struct {
	id    string
	until Instant
}

// misfit takes a worker's word that it cannot decode the input of a task.
func (s *Scheduler) misfit(t *task, out *Outcome, e *Done) {
	w, x := t.run.worker, s.undecoded[t.id()]
	s.emit(Rejected{t.policy.Kind, w.instance, Undecoded})
	if at, known := slices.BinarySearch(x.builds, w.build); !known && len(x.builds) < maxBuilds {
		x.builds = slices.Insert(slices.Clone(x.builds), at, w.build)
	}
	x.rejections++
	if len(s.undecoded) <= maxSaid {
		x.said = out.Body
	}
	s.undecoded[t.id()] = x
	if x.rejections < maxRejections && s.fits(t, true) {
		s.release(t, undecodable, e.Ref)
		return
	}
	s.failUndecoded(t, out, e.Ref)
}

// failUndecoded counts a failure.
func (s *Scheduler) failUndecoded(t *task, out *Outcome, ref any) {
	x := s.undecoded[t.id()]
	x.rejections, x.until = 0, 0
	s.undecoded[t.id()] = x
	if int(t.failures)+1 >= min(t.policy.MaxAttempts, maxUndecoded) {
		out.Status, out.Cause = StatusDead, CauseUndecodable
		s.finish(t, out, ref)
		return
	}
	out.Cause = CauseFailed
	wait := t.policy.backoff(int(t.failures)+1, s.cfg.Rand)
	s.again(t, Retry{Failures: 1, Wait: wait}, CauseFailed, *out, ref)
}

// fits reports whether there is a worker that may decode a task, whether it has room now or not;
// unreached says that one counts which messages do not reach now.
func (s *Scheduler) fits(t *task, unreached bool) bool {
	builds := s.undecoded[t.id()].builds
	return slices.ContainsFunc(s.workerList, func(w *worker) bool {
		return (w.takesNew() || unreached && w.mayTake()) && w.slots >= t.class.weight && t.class.wants(w) &&
			!slices.Contains(builds, w.build)
	})
}

// awaitBuild has a task that waits count as failed if no worker of another build comes.
func (s *Scheduler) awaitBuild(t *task) {
	x, known := s.undecoded[t.id()]
	if !known || x.until != 0 {
		return
	}
	x.until = s.now.Add(undecodedAfter)
	s.undecoded[t.id()] = x
	s.lonely = append(s.lonely, lonely{t.id(), x.until})
}

// tendUndecoded counts failures of tasks that nobody can decode.
func (s *Scheduler) tendUndecoded() {
	fits := map[*queueClass]bool{}
	for range min(len(s.lonely), maxUndecodable) {
		l := s.lonely[0]
		if l.until > s.now {
			break
		}
		s.lonely = s.lonely[1:]
		t, x := s.tasks.get(l.id), s.undecoded[l.id]
		if t == nil || x.until != l.until {
			continue
		}
		x.until = 0
		s.undecoded[l.id] = x
		if t.phase != waiting && t.phase != parked {
			continue // it waits again when it has come back
		}
		is, looked := fits[t.class]
		if !looked {
			is = t.class.kind.paused || s.fits(t, false)
			fits[t.class] = is
		}
		if is {
			s.awaitBuild(t)
			continue
		}
		s.failUndecoded(t, &Outcome{Attempt: t.attempt, Tries: t.tries() + 1, Body: x.said}, nil)
	}
	if len(s.lonely) == 0 {
		s.lonely = nil
	}
}

// undecodedDue is when tendUndecoded has something to do.
func (s *Scheduler) undecodedDue() Instant {
	if len(s.lonely) == 0 {
		return never
	}
	return s.lonely[0].until
}

// undecodedKey is the part of a class's name that says whose builds it is not for.
func undecodedKey(builds []string) string { return "\x00-" + strings.Join(builds, "\x00") }
