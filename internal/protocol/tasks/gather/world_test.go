package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// store is one that takes one thing after the other, at the end of a way.
type store struct {
	single, batch, each, way time.Duration
	bursts                   bool           // it takes all that waits, and answers when all of that is stored
	free                     record.Instant // when it has nothing more to do
	queue                    []arrival      // for the next bursts
}

// arrival is a write on its way.
type arrival struct {
	at     record.Instant // there
	ticket Ticket
}

// takesBurst takes the next burst if it has begun already, and returns it.
func (s *store) takesBurst(now record.Instant) (burst []arrival) {
	if len(s.queue) == 0 || s.nextBurst() > now {
		return nil
	}
	begins, n := s.nextBurst(), 0
	for n < len(s.queue) && s.queue[n].at <= begins {
		n++
	}
	burst, s.queue = s.queue[:n], s.queue[n:]
	s.free = begins.Add(time.Duration(n) * s.single)
	return burst
}

func (s *store) nextBurst() record.Instant { return max(s.free, s.queue[0].at) }

// stores takes n writes that leave at now, and returns when their answer comes.
func (s *store) takes(now record.Instant, n int, together bool) record.Instant {
	took := s.single
	if together {
		took = s.batch + time.Duration(n)*s.each
	}
	s.free = max(s.free, now.Add(s.way)).Add(took)
	return s.free.Add(s.way)
}

// answer is one under way.
type answer struct {
	at     record.Instant
	n      int // writes of a batch, 0: it is of one that went alone
	ticket Ticket
}

// world has so many writers, each of which writes again when its write is answered.
type world struct {
	store
	g       Gatherer
	size    int  // of a write, in bytes
	never   bool // nothing goes together
	later   bool // nobody writes before all answers that have come are read
	asOne   int  // so many of what goes together go as one record where they may
	now     record.Instant
	waiting int
	answers []answer
	alone   int
	before  int // of those, before the first batch
	batches int
	bundles int // of many writes as one record
	stored  int
}

func (w *world) arrives(a answer) {
	if n := len(w.answers); n > 0 && w.answers[n-1].at > a.at {
		panic("the store takes one after the other")
	}
	w.answers = append(w.answers, a)
}

func (w *world) sendAlone(t Ticket) {
	w.alone++
	if w.bursts {
		w.queue = append(w.queue, arrival{w.now.Add(w.way), t})
		return
	}
	w.arrives(answer{w.takes(w.now, 1, false), 0, t})
}

// work has the store begin what it can.
func (w *world) work() {
	for burst := w.takesBurst(w.now); burst != nil; burst = w.takesBurst(w.now) {
		for _, x := range burst {
			w.arrives(answer{w.free.Add(w.way), 0, x.ticket})
		}
	}
}

func (w *world) enter() {
	if w.never {
		w.sendAlone(Ticket{})
		return
	}
	if t, alone := w.g.Enter(w.now, w.size); alone {
		w.sendAlone(t)
		return
	}
	w.waiting++
}

func (w *world) next(t failer) {
	if w.never {
		return
	}
	n, together := w.g.Next(w.now, w.waiting)
	if n == 0 {
		return
	}
	if together && w.size > 0 {
		n = min(n, max(MostBytes/w.size, 1))
	}
	w.waiting -= n
	if !together {
		for range n {
			w.sendAlone(w.g.Alone(w.now))
		}
		return
	}
	if under := len(w.answers) + len(w.queue); under > 0 {
		t.Fatalf("%d are under way, and a batch is sent", under)
	}
	if w.asOne > 0 && w.g.AsOne(w.now, (n+w.asOne-1)/w.asOne, 0, n) {
		w.waiting += max(n-w.asOne, 0)
		n = min(n, w.asOne)
		w.g.One(w.now, n)
		w.bundles++
		w.arrives(answer{at: w.takes(w.now, n, false), n: n})
		return
	}
	w.g.Batch(w.now, n)
	if w.batches++; w.batches == 1 {
		w.before = w.alone
	}
	w.arrives(answer{at: w.takes(w.now, n, true), n: n})
}

type failer interface{ Fatalf(string, ...any) }

// read tells of an answer, and returns how many writes it is of.
func (w *world) read(a answer) int {
	if a.n > 0 {
		w.g.BatchAnswered(w.now, Stored, w.waiting)
	} else if !w.never {
		w.g.Answered(w.now, a.ticket)
	}
	return max(a.n, 1)
}

// entering is how long a writer takes for its next write.
const entering = 3 * time.Microsecond

// run lets so many writers write for so long, and returns how many writes a second were stored in
// the second half of the time.
func (w *world) run(t failer, writers int, span time.Duration) float64 {
	if w.now == 0 {
		w.now = 1
		for range writers {
			w.enter()
			w.next(t)
		}
	}
	half, until, before := w.now.Add(span/2), w.now.Add(span), -1
	for w.now < until {
		if before < 0 && w.now >= half {
			before = w.stored
		}
		w.work()
		if len(w.answers) == 0 && len(w.queue) > 0 {
			w.now = w.nextBurst()
			continue
		}
		if len(w.answers) == 0 {
			due := w.g.Due(w.now, w.waiting)
			if due < 0 || due > w.store.batch+2*w.store.way+time.Millisecond {
				t.Fatalf("%d wait, nothing is under way, and %v until anything happens", w.waiting, due)
			}
			w.now = w.now.Add(due)
			w.next(t)
			continue
		}
		a := w.answers[0]
		if due := w.g.Due(w.now, w.waiting); due >= 0 && w.now.Add(due) < a.at {
			t.Fatalf("it waits while something is under way")
		}
		w.now = max(w.now, a.at)
		n := 0
		for len(w.answers) > 0 && w.answers[0].at <= w.now && (n == 0 || w.later) {
			n += w.read(w.answers[0])
			w.answers = w.answers[1:]
			w.next(t)
		}
		for range n {
			w.stored++
			w.now = w.now.Add(entering)
			w.enter()
			w.next(t)
		}
	}
	return float64(w.stored-before) / (span / 2).Seconds()
}
