package gather

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// store is one that takes one thing after the other, at the end of a way.
type store struct {
	single, batch, each, way time.Duration
	free                     record.Instant // when it has nothing more to do
}

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
	never   bool // nothing goes together
	now     record.Instant
	waiting int
	answers []answer
	alone   int
	batches int
	stored  int
}

func (w *world) arrives(a answer) {
	if n := len(w.answers); n > 0 && w.answers[n-1].at > a.at {
		panic("the store takes one after the other")
	}
	w.answers = append(w.answers, a)
}

func (w *world) sendAlone(t Ticket) { w.alone++; w.arrives(answer{w.takes(w.now, 1, false), 0, t}) }

func (w *world) enter() {
	if w.never {
		w.sendAlone(Ticket{})
		return
	}
	if t, alone := w.g.Enter(w.now); alone {
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
	w.waiting -= n
	if !together {
		for range n {
			w.sendAlone(w.g.Alone(w.now))
		}
		return
	}
	if len(w.answers) > 0 {
		t.Fatalf("%d are under way, and a batch is sent", len(w.answers))
	}
	w.g.Batch(w.now, n)
	w.batches++
	w.arrives(answer{at: w.takes(w.now, n, true), n: n})
}

type failer interface{ Fatalf(string, ...any) }

// run lets so many writers write for so long, and returns how many writes a second were stored in
// the second half of the time.
func (w *world) run(t failer, writers int, until time.Duration) float64 {
	w.now = 1
	half := -1
	for range writers {
		w.enter()
		w.next(t)
	}
	for w.now < record.Instant(until) {
		if half < 0 && w.now >= record.Instant(until/2) {
			half = w.stored
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
		w.answers = w.answers[1:]
		w.now = a.at
		if a.n > 0 {
			w.g.BatchAnswered(w.now, Stored, w.waiting)
		} else if !w.never {
			w.g.Answered(w.now, a.ticket)
		}
		w.next(t)
		for range max(a.n, 1) {
			w.stored++
			w.now = w.now.Add(3 * time.Microsecond)
			w.enter()
			w.next(t)
		}
	}
	return float64(w.stored-half) / (until / 2).Seconds()
}

// TestPays: whatever a store is like, and however many write to it, it stores nearly as many writes
// as it would one by one; and a store that syncs each write stores as many as batches allow.
func TestPays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := func(name string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Microsecond
		}
		s := store{
			single: us("single", 30, 600), batch: us("batch", 1000, 10_000), each: us("each", 3, 15),
			way: us("way", 20, 5000),
		}
		writers := rapid.IntRange(1, 600).Draw(t, "writers")
		const span = 600 * time.Millisecond
		always := world{store: s, never: true}
		free := world{store: s}
		alone, got := always.run(t, writers, span), free.run(t, writers, span)
		if got < 0.85*alone {
			t.Fatalf("%.0f/s, and %.0f/s if all went alone; %d batches", got, alone, free.batches)
		}
		n := min(writers, Most)
		cycle := 2*s.way + 5*s.batch/4 + time.Duration(n)*(s.each+3*time.Microsecond) + time.Millisecond
		together := float64(n) / cycle.Seconds()
		tried := writers >= 2*group && s.single*time.Duration(writers) > 3*assumed // before it is measured
		if tried && together > 2*alone && got < together/3 {
			t.Fatalf("%.0f/s, %.0f/s if all went alone, and %.0f/s in batches", got, alone, together)
		}
	})
}

// TestAStoreThatDoesNotSyncIsNeverGivenBatches: not with any number of writers, also far away.
func TestAStoreThatDoesNotSyncIsNeverGivenBatches(t *testing.T) {
	for _, way := range []time.Duration{10 * time.Microsecond, 50 * time.Millisecond} {
		for _, writers := range []int{1, 10, 256, 1000, 1500} {
			w := world{store: store{
				single: 6 * time.Microsecond, batch: 3 * time.Millisecond, each: 10 * time.Microsecond,
				way: way,
			}}
			if w.run(t, writers, 2*time.Second); w.batches > 0 {
				t.Errorf("%v away, %d writers: %d batches", way, writers, w.batches)
			}
		}
	}
}

// TestAStoreThatSyncsIsGivenBatches: and sometimes a few writes alone, to see what that takes.
func TestAStoreThatSyncsIsGivenBatches(t *testing.T) {
	w := world{store: store{
		single: 330 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond,
		way: 30 * time.Microsecond,
	}}
	rate := w.run(t, 256, 10*time.Second)
	if rate < 30_000 || w.alone < 5*probe || w.alone > 8*probe {
		t.Errorf("%.0f/s, %d of them alone", rate, w.alone)
	}
}

// turned is one that has turned to batches, with so many waiting.
func turned(t *testing.T) (*Gatherer, record.Instant) {
	t.Helper()
	w := world{store: store{single: time.Millisecond, batch: 2 * time.Millisecond, each: 10 * time.Microsecond}}
	w.run(t, 100, time.Second)
	g := &w.g
	for _, a := range w.answers {
		if w.now = a.at; a.n > 0 {
			g.BatchAnswered(w.now, Stored, 0)
		} else {
			g.Answered(w.now, a.ticket)
		}
	}
	if !g.turned || g.alone > 0 || g.together > 0 {
		t.Fatalf("turned: %v; %d alone, %d together", g.turned, g.alone, g.together)
	}
	return g, w.now
}

// TestRefusals: more than a twentieth of the last thousand, and all go alone.
func TestRefusals(t *testing.T) {
	g, now := turned(t)
	for i := range 2 * remembered {
		g.Ended(i%20 == 0)
	}
	if n, together := g.Next(now, 100); n != 100 || !together {
		t.Fatalf("a twentieth: %d go, together: %v", n, together)
	}
	g.Ended(true)
	g.Ended(true)
	if n, together := g.Next(now, 100); n != 100 || together {
		t.Errorf("more: %d go, together: %v", n, together)
	}
	if _, alone := g.Enter(now); !alone {
		t.Error("the next one waits")
	}
}

// TestSilence: after a batch without an answer all go alone for a while.
func TestSilence(t *testing.T) {
	for _, f := range []Fate{Silent, NotTaken} {
		g, now := turned(t)
		g.Batch(now, 100)
		g.BatchAnswered(now, f, 0)
		if n, together := g.Next(now, 100); n != 100 || together {
			t.Errorf("%v: %d go, together: %v", f, n, together)
		}
	}
}
