package tasks

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/queue"
)

// kind is what the tasks of one kind have in common.
type kind struct {
	name    string
	classes map[string]*queueClass
	recent  *queueClass // of the last submission, which had
	policy  *Policy     // this policy
	newest  uint64      // revision of the newest submission,
	said    Limits      // and its limits, which count where no record says more
	paused  bool
	open    int // tasks in the state
	offered int // those of them that wait, and that no limit key keeps back
	count   [phases]int32
	queued  Effect // that one more has come: the same for all of them
	ceiling        // how many at once, and how often

	turns  *queue.Turns[*task]      // its fair keys take turns; nil: no task has had one
	shares map[string]int           // of those keys, as its record says
	heads  queue.Queue[*queueClass] // then, of the present round: its classes, by whose turn it is

	keyBound bool // the key limit is that of a record, whatever a submission says
}

// queueClass is the queue of tasks that the same workers can run: of one kind, with the same labels
// and weight. The first one that finds no worker stops those behind it, and nobody else.
type queueClass struct {
	key     string
	kind    *kind
	labels  map[string]string
	weight  int
	group   uint64                 // of suspects
	but     []string               // builds of workers that cannot decode its tasks
	common  subqueue               // its tasks that are not parked
	parked  map[string]*subqueue   // those that are, by limit key
	byAge   queue.Queue[*subqueue] // those subqueues that it offers, by their oldest tasks,
	byTurn  queue.Queue[*inTurn]   // and where keys take turns, by whose turn it is
	offered int                    // tasks in those subqueues
	open    int                    // tasks that belong to it
	pool    *pool                  // the workers that can run them; nil: not known yet
	place   int                    // in Scheduler.classes
	slot    int                    // among the classes of its pool
	heads   [2]int32               // its places in the queues of the present round
	order   uint64                 // and what decides there among classes of one moment
}

const (
	maxKinds   = 256  // that are remembered though no task of them is open
	maxClasses = 1024 // likewise
)

// classOf finds the class of a submission, and takes over the limits that it brings.
func (s *Scheduler) classOf(p *Policy, revision uint64) *queueClass {
	k := s.kindOf(p.Kind)
	if said := (Limits{p.Concurrency, p.Rate, p.KeyLimit}); revision > k.newest {
		changed := said != k.said
		if k.newest, k.said = revision, said; changed {
			s.bind(k)
		}
	}
	if k.policy == p {
		return k.recent
	}
	l := s.classNamed(k, classKey(p), p)
	k.policy, k.recent = p, l
	return l
}

func (s *Scheduler) classNamed(k *kind, key string, p *Policy) *queueClass {
	l := k.classes[key]
	if l == nil {
		l = &queueClass{key: key, kind: k, labels: p.Labels, weight: max(p.Weight, 1)}
		l.common.in = l
		l.common.share(k.turns)
		k.classes[key] = l
		l.place = len(s.classes)
		s.classes = append(s.classes, l)
	}
	return l
}

func (s *Scheduler) kindOf(name string) *kind {
	k := s.kinds[name]
	if k == nil {
		k = &kind{
			name: name, classes: map[string]*queueClass{}, paused: s.paused[name], queued: Queued{Kind: name},
			heads: queue.Numbered[*queueClass](ofTheKind),
		}
		s.kinds[name] = k
		s.bind(k)
	}
	return k
}

// classKey names a class within its kind.
func classKey(p *Policy) string {
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

// keyOf names the class that a task belongs to now. Very few have more than their policy says.
func (s *Scheduler) keyOf(t *task) string {
	key := classKey(t.policy)
	if group := s.group(t); group != 0 {
		key += s.suspectKey(t, group)
	}
	if x, known := s.undecoded[t.id()]; known {
		key += undecodedKey(x.builds)
	}
	return key
}

// reclass gives a task that is in no queue the class that it belongs to.
func (s *Scheduler) reclass(t *task) {
	if len(s.suspects) == 0 && len(s.undecoded) == 0 && !t.class.special() {
		return
	}
	key, former := s.keyOf(t), t.class
	if key == former.key {
		return
	}
	t.class = s.classNamed(former.kind, key, t.policy)
	t.class.group, t.class.but = s.group(t), s.undecoded[t.id()].builds
	t.class.open++
	t.class.kind.open++
	s.leaveClass(former)
}

// special reports whether a class is only for tasks to which something has happened.
func (l *queueClass) special() bool { return l.group != 0 || l.but != nil }

// leaveClass forgets classes and kinds that nobody uses, when there are many.
func (s *Scheduler) leaveClass(l *queueClass) {
	k := l.kind
	l.open--
	k.open--
	switch {
	// its rate may still bind it
	case k.open == 0 && (len(s.kinds) > maxKinds && k.arrival <= s.now || len(s.kinds) > 16*maxKinds):
		delete(s.kinds, k.name)
		for _, key := range slices.Sorted(maps.Keys(k.classes)) {
			s.dropClass(k.classes[key])
		}
	case l.open == 0 && (len(s.classes) > maxClasses || l.special()):
		delete(k.classes, l.key)
		k.policy, k.recent = nil, nil
		s.dropClass(l)
	}
}

// dropClass strikes a class from the list, of which those with a known pool come first.
func (s *Scheduler) dropClass(l *queueClass) {
	if l.pool != nil {
		l.pool.leave(l)
	}
	at, last := l.place, len(s.classes)-1
	if at < s.pooled {
		s.pooled--
		s.shift(s.pooled, at)
		at = s.pooled
	}
	s.shift(last, at)
	s.classes[last] = nil
	s.classes = s.classes[:last]
}

func (s *Scheduler) shift(from, to int) {
	if from != to {
		s.classes[to] = s.classes[from]
		s.classes[to].place = to
	}
}

// takes reports whether a worker may be given the tasks of a class.
func (l *queueClass) takes(w *worker) bool { return l.wants(w) && !slices.Contains(l.but, w.build) }

// wants is takes, whatever the worker can decode.
func (l *queueClass) wants(w *worker) bool {
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

// The queues of the classes of one round: all of them, by the turns of their first tasks, and those
// of a kind whose keys take turns, by whose turn it is.
const (
	ofAllKinds = iota
	ofTheKind
)

// Place is where the class keeps its place in a queue of the present round.
func (l *queueClass) Place(number uint8) *int32 { return &l.heads[number] }

// Order decides among classes whose first tasks have one turn: the earlier submission.
func (l *queueClass) Order() uint64 { return l.order }

// takeTurns has the keys of a kind take turns from now on, as the first of its tasks has one. Those
// without a key have a turn together.
func (k *kind) takeTurns(s *Scheduler) {
	k.turns = queue.NewTurns[*task]()
	k.turns.Shares = k.shares
	for _, key := range slices.Sorted(maps.Keys(k.classes)) {
		l := k.classes[key]
		l.common.takeTurns(s)
		for _, of := range slices.Sorted(maps.Keys(l.parked)) {
			l.parked[of].takeTurns(s)
		}
	}
}

// lead puts a class among those that are handed out from in this round, or at another place if its
// first task has gone. The class that leads has the task whose turn is first.
func (s *Scheduler) lead(l *queueClass) {
	l.order = l.byAge.First().order
	s.heads.Put(l, l.byAge.Next())
	if l.kind.turns != nil {
		_, place := l.inTurn(s)
		l.kind.heads.Put(l, place)
	}
}

// strike leaves a class out of the rest of the round.
func (s *Scheduler) strike(l *queueClass) {
	s.heads.Remove(l)
	l.kind.heads.Remove(l)
}

// first is the task of a kind, of which a class leads, whose turn it is: the first one of that
// class, or where keys take turns, the first one of the key that has its turn, in whatever class.
func (l *queueClass) first(s *Scheduler) *task {
	if l.kind.turns == nil {
		return l.byAge.First().first()
	}
	for heads := &l.kind.heads; ; {
		head := heads.First()
		t, place := head.inTurn(s)
		if place == heads.Next() {
			return t
		}
		heads.Move(head, place) // the key has gone since, in another class
	}
}

// inTurn is the task of a class whose turn it is where keys take turns, and the place of its key.
func (l *queueClass) inTurn(s *Scheduler) (*task, Instant) {
	for {
		n := (*subqueue)(l.byTurn.First())
		t, place := n.fair.First()
		if place == l.byTurn.Next() {
			return t, place
		}
		n.takeTurn(s) // the key has gone since, in another subqueue
	}
}
