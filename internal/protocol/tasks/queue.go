package tasks

// queue is a heap of tasks by time, then by revision. Each task knows its place, so that removing
// one costs O(log n). It has four branches at each node: half the depth of two, and siblings share
// a line of the cache.
type queue struct {
	entries  []entry
	deadline bool // it is the one of deadlines: a task is in that and in one other at most
}

type entry struct {
	at Instant
	t  *task
}

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.t.revision < b.t.revision
}

func (q *queue) place(t *task) *int32 {
	if q.deadline {
		return &t.expiry
	}
	return &t.place
}

func (q *queue) len() int { return len(q.entries) }

// next is the time of the first one.
func (q *queue) next() Instant {
	if len(q.entries) == 0 {
		return never
	}
	return q.entries[0].at
}

func (q *queue) add(t *task, at Instant) {
	q.entries = append(q.entries, entry{at, t})
	q.up(len(q.entries) - 1)
}

// remove takes a task out, if it is in.
func (q *queue) remove(t *task) {
	place := q.place(t)
	i := int(*place) - 1
	if i < 0 {
		return
	}
	*place = 0
	n := len(q.entries) - 1
	last := q.entries[n]
	q.entries[n] = entry{}
	q.entries = q.entries[:n]
	if i < n {
		q.entries[i] = last
		if q.up(i) == i {
			q.down(i)
		}
	}
	if n >= 1024 && n < cap(q.entries)/4 { // what a burst has needed is given back
		q.entries = append(make([]entry, 0, cap(q.entries)/2), q.entries...)
	}
}

// pop takes out the first one that is due, nil when there is none.
func (q *queue) pop(now Instant) *task {
	if q.next() > now {
		return nil
	}
	t := q.entries[0].t
	q.remove(t)
	return t
}

func (q *queue) up(i int) int {
	x := q.entries[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(&q.entries[parent]) {
			break
		}
		q.entries[i] = q.entries[parent]
		*q.place(q.entries[i].t) = int32(i + 1)
		i = parent
	}
	q.entries[i] = x
	*q.place(x.t) = int32(i + 1)
	return i
}

func (q *queue) down(i int) {
	x := q.entries[i]
	for {
		first := 4*i + 1
		if first >= len(q.entries) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(q.entries)); c++ {
			if q.entries[c].before(&q.entries[least]) {
				least = c
			}
		}
		if !q.entries[least].before(&x) {
			break
		}
		q.entries[i] = q.entries[least]
		*q.place(q.entries[i].t) = int32(i + 1)
		i = least
	}
	q.entries[i] = x
	*q.place(x.t) = int32(i + 1)
}
