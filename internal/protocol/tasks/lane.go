package tasks

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is what the tasks of one kind have in common.
type kind struct {
	name    string
	lanes   map[string]*lane
	recent  *lane   // of the last submission, which had
	policy  *Policy // this policy
	newest  uint64  // revision of the submission whose limits count
	paused  bool
	open    int // tasks on the books
	count   [phases]int32
	queued  Effect // that one more has come: the same for all of them
	ceiling        // how many at once, and how often
}

// lane is the queue of tasks that the same workers can run: of one kind, with the same labels and weight. The first one that
// finds no worker stops those behind it, and nobody else.
type lane struct {
	key    string
	kind   *kind
	labels map[string]string
	weight int
	queue  queue
	lines  map[string]*line // by limit key: its tasks that are set aside, or were
	open   int              // tasks that belong to it
	pool   *pool            // who can run them; nil: not known yet
	place  int              // in Scheduler.lanes
	seat   int              // among the lanes of its pool
}

const (
	maxKinds = 256  // that are remembered though no task of them is open
	maxLanes = 1024 // likewise
)

// laneOf finds the lane of a submission, and takes over the limits that it brings.
func (s *Scheduler) laneOf(p *Policy, revision uint64) *lane {
	k := s.kindOf(p.Kind)
	if revision > k.newest {
		if p.Rate != k.Rate {
			k.newRate(p.Rate, s.now)
		}
		k.newest, k.Concurrency = revision, p.Concurrency
	}
	if k.policy == p {
		return k.recent
	}
	key := laneKey(p)
	l := k.lanes[key]
	if l == nil {
		l = &lane{key: key, kind: k, labels: p.Labels, weight: max(p.Weight, 1)}
		k.lanes[key] = l
		l.place = len(s.lanes)
		s.lanes = append(s.lanes, l)
	}
	k.policy, k.recent = p, l
	return l
}

func (s *Scheduler) kindOf(name string) *kind {
	k := s.kinds[name]
	if k == nil {
		k = &kind{name: name, lanes: map[string]*lane{}, paused: s.paused[name], queued: Queued{Kind: name}}
		s.kinds[name] = k
	}
	return k
}

// laneKey names a lane within its kind.
func laneKey(p *Policy) string {
	if p.Weight <= 1 && len(p.Labels) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(strconv.Itoa(max(p.Weight, 1)))
	for _, k := range slices.Sorted(maps.Keys(p.Labels)) {
		b.WriteString("\x00" + k + "\x00" + p.Labels[k])
	}
	return b.String()
}

// leaveLane forgets lanes and kinds that nobody uses, when there are many.
func (s *Scheduler) leaveLane(l *lane) {
	k := l.kind
	l.open--
	k.open--
	switch {
	case k.open == 0 && (len(s.kinds) > maxKinds && k.arrival <= s.now || len(s.kinds) > 16*maxKinds): // its rate may still bind it
		delete(s.kinds, k.name)
		for _, key := range slices.Sorted(maps.Keys(k.lanes)) {
			s.dropLane(k.lanes[key])
		}
	case l.open == 0 && len(s.lanes) > maxLanes:
		delete(k.lanes, l.key)
		k.policy, k.recent = nil, nil
		s.dropLane(l)
	}
}

// dropLane strikes a lane from the list, of which those with a known pool come first.
func (s *Scheduler) dropLane(l *lane) {
	if l.pool != nil {
		l.pool.leave(l)
	}
	at, last := l.place, len(s.lanes)-1
	if at < s.pooled {
		s.pooled--
		s.shift(s.pooled, at)
		at = s.pooled
	}
	s.shift(last, at)
	s.lanes[last] = nil
	s.lanes = s.lanes[:last]
}

func (s *Scheduler) shift(from, to int) {
	if from != to {
		s.lanes[to] = s.lanes[from]
		s.lanes[to].place = to
	}
}

// takes reports whether a worker may be given the tasks of a lane.
func (l *lane) takes(w *worker) bool {
	if !w.works || !slices.Contains(w.kinds, l.kind.name) {
		return false
	}
	for k, v := range l.labels {
		if got, ok := w.labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}
