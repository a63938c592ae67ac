package tasks

import "github.com/rolemanager/rolemanager/internal/protocol/tasks/queue"

// subqueue is tasks of one class that wait together: those that are not parked, or those that are
// parked for one limit key. It is a queue of the same rule in either case. A class offers the
// first tasks of all its subqueues, but not of one whose limit key is full.
//
// Invariant: a subqueue that is not offered is empty, or as many tasks of its limit key run as its
// first task allows. So whenever one of them goes, all subqueues of the key are looked at, and
// nobody is forgotten. Of the subqueues of a key that are offered each may go first. So a task that
// cannot go at present (its kind is paused, nobody takes it) holds nobody's place.
type subqueue struct {
	in      *queueClass
	of      *limit             // nil: they are not parked
	key     string             // of that limit
	queue   queue.Queue[*task] // empty if there is
	fair    *queue.Fair[*task] // one whose keys take turns
	offered int                // of its tasks: all or none
	place   int                // in of.subqueues
	heads   [2]int32           // its places in the queues of its class
	order   uint64             // what decides there among oldest tasks of one moment,
	turn    uint64             // and among the first ones of one key
}

// inTurn is a subqueue in the queue of those whose keys take turns.
type inTurn subqueue

func (n *subqueue) Order() uint64      { return n.order }
func (n *subqueue) Place(uint8) *int32 { return &n.heads[0] }

func (n *inTurn) Order() uint64      { return n.turn }
func (n *inTurn) Place(uint8) *int32 { return &n.heads[1] }

// share has the subqueue take part in the turns of its kind, if its keys take turns.
func (n *subqueue) share(turns *queue.Turns[*task]) {
	if turns != nil {
		n.fair = queue.NewFair(turns)
	}
}

// len is how many tasks are in the subqueue.
func (n *subqueue) len() int {
	if n.fair != nil {
		return n.fair.Len()
	}
	return n.queue.Len()
}

// first is the task whose turn it is, of a subqueue that is not empty.
func (n *subqueue) first() *task {
	if n.fair != nil {
		t, _ := n.fair.First()
		return t
	}
	return n.queue.First()
}

func (n *subqueue) add(s *Scheduler, t *task) {
	if n.fair != nil {
		n.fair.Add(t.fair(), t, t.turn(s))
	} else {
		n.queue.Add(t, t.turn(s))
	}
}

func (n *subqueue) remove(t *task) {
	if n.fair != nil {
		n.fair.Remove(t.fair(), t)
	} else {
		n.queue.Remove(t)
	}
}

// takeTurns has the keys of the subqueue take turns from now on.
func (n *subqueue) takeTurns(s *Scheduler) {
	n.share(n.in.kind.turns)
	for n.queue.Len() > 0 {
		t := n.queue.First()
		n.queue.Remove(t)
		n.add(s, t)
	}
	s.tend(n)
}

// takeTurn gives the subqueue its place among those of its class, by whose turn it is.
func (n *subqueue) takeTurn(s *Scheduler) {
	t, place := n.fair.First()
	n.turn = uint64(t.turn(s)) ^ 1<<63 // in the order of signed numbers
	n.in.byTurn.Put((*inTurn)(n), place)
}

// tend offers a subqueue in which something has changed, or does not offer it any more.
func (s *Scheduler) tend(n *subqueue) {
	l, before, now := n.in, n.offered, n.len()
	if now == 0 && n.of != nil {
		s.leaveSubqueue(n)
	} else if now > 0 && n.of.full(n.first()) {
		now = 0
	}
	n.offered = now
	l.offered += now - before
	l.kind.offered += now - before
	if now == 0 {
		l.byAge.Remove(n)
		l.byTurn.Remove((*inTurn)(n))
		return
	}
	if before == 0 && n.of != nil {
		s.wake = s.now
	}
	if n.fair == nil {
		n.order = n.queue.First().Order()
		l.byAge.Put(n, n.queue.Next())
		return
	}
	oldest, at := n.fair.Oldest()
	n.order = oldest.Order()
	l.byAge.Put(n, at)
	n.takeTurn(s)
}

// parkedFor is the subqueue of a class for a limit key.
func (s *Scheduler) parkedFor(l *queueClass, key string) *subqueue {
	n := l.parked[key]
	if n == nil {
		if l.parked == nil {
			l.parked = map[string]*subqueue{}
		}
		n = &subqueue{in: l, of: s.limitOf(key), key: key}
		n.share(l.kind.turns)
		n.of.subqueues = append(n.of.subqueues, n)
		n.place = len(n.of.subqueues) - 1
		l.parked[key] = n
	}
	return n
}

// leaveSubqueue strikes a subqueue in which nobody is parked any more.
func (s *Scheduler) leaveSubqueue(n *subqueue) {
	delete(n.in.parked, n.key)
	kept := n.of.subqueues
	last := len(kept) - 1
	kept[n.place] = kept[last]
	kept[n.place].place = n.place
	kept[last] = nil
	n.of.subqueues = kept[:last]
	s.leaveLimit(n.key, n.of)
}

// stand puts a task that waits into its subqueue: it is parked while its limit key is full.
func (s *Scheduler) stand(t *task) {
	n, phase := &t.class.common, waiting
	if key := t.limit(); key != "" && s.limits[key].full(t) {
		n, phase = s.parkedFor(t.class, key), parked
	}
	if t.phase != phase {
		s.move(t, phase)
	}
	n.add(s, t)
	s.tend(n)
}

// park sets a task aside whose turn it is, and whose limit key is full.
func (s *Scheduler) park(t *task) {
	if t.phase == parked {
		s.tend(t.subqueue()) // it is behind the key already
	} else {
		s.restand(t)
	}
}

// restand puts a task that waits into the subqueue that it belongs to now. Its key keeps its turn.
func (s *Scheduler) restand(t *task) {
	move := func() {
		s.unqueue(t)
		s.reclass(t)
		s.stand(t)
	}
	if turns := t.class.kind.turns; turns != nil {
		turns.Keep(t.fair(), move)
	} else {
		move()
	}
}

// subqueue is the one that a task stands in.
func (t *task) subqueue() *subqueue {
	if t.phase == parked {
		return t.class.parked[t.limit()]
	}
	return &t.class.common
}
