package tasks

// queue is a heap of tasks by time, then by revision. Each task knows its place, so that removing one costs O(log n).
// It has four branches at each node: half the depth of two, and siblings share a line of the cache.
type queue struct {
	rows     []row
	deadline bool // it is the one of deadlines: a task is in that and in one other at most
}

type row struct {
	at Instant
	t  *task
}

func (a *row) before(b *row) bool {
	return a.at < b.at || a.at == b.at && a.t.revision < b.t.revision
}

func (q *queue) place(t *task) *int32 {
	if q.deadline {
		return &t.expiry
	}
	return &t.place
}

func (q *queue) len() int { return len(q.rows) }

// next is the time of the first one.
func (q *queue) next() Instant {
	if len(q.rows) == 0 {
		return never
	}
	return q.rows[0].at
}

func (q *queue) add(t *task, at Instant) {
	q.rows = append(q.rows, row{at, t})
	q.up(len(q.rows) - 1)
}

// remove takes a task out, if it is in.
func (q *queue) remove(t *task) {
	place := q.place(t)
	i := int(*place) - 1
	if i < 0 {
		return
	}
	*place = 0
	n := len(q.rows) - 1
	last := q.rows[n]
	q.rows[n] = row{}
	q.rows = q.rows[:n]
	if i < n {
		q.rows[i] = last
		if q.up(i) == i {
			q.down(i)
		}
	}
	if n >= 1024 && n < cap(q.rows)/4 { // what a burst has needed is given back
		q.rows = append(make([]row, 0, cap(q.rows)/2), q.rows...)
	}
}

// pop takes out the first one that is due, nil when there is none.
func (q *queue) pop(now Instant) *task {
	if q.next() > now {
		return nil
	}
	t := q.rows[0].t
	q.remove(t)
	return t
}

func (q *queue) up(i int) int {
	x := q.rows[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(&q.rows[parent]) {
			break
		}
		q.rows[i] = q.rows[parent]
		*q.place(q.rows[i].t) = int32(i + 1)
		i = parent
	}
	q.rows[i] = x
	*q.place(x.t) = int32(i + 1)
	return i
}

func (q *queue) down(i int) {
	x := q.rows[i]
	for {
		first := 4*i + 1
		if first >= len(q.rows) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(q.rows)); c++ {
			if q.rows[c].before(&q.rows[least]) {
				least = c
			}
		}
		if !q.rows[least].before(&x) {
			break
		}
		q.rows[i] = q.rows[least]
		*q.place(q.rows[i].t) = int32(i + 1)
		i = least
	}
	q.rows[i] = x
	*q.place(x.t) = int32(i + 1)
}
