package tasks

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// stage is a scheduler that hands out, with workers of many slots, driven without a driver: what it
// wants written is written at once, and what it pushes is accepted and done.
type stage struct {
	s        *Scheduler
	now      Instant
	out      []Effect
	revision uint64
	pushed   []Assign
	answers  []Answer
	ended    int
}

func newStage(workers, slots int, cfg SchedulerConfig) *stage {
	cfg.Epoch, cfg.CrashBudget, cfg.AnswerTime, cfg.WriteTime = 100, 3, time.Second, time.Second
	cfg.Rand = func() float64 { return 0.5 }
	g := &stage{s: NewScheduler(cfg), now: 1}
	g.step(CaughtUp{})
	g.revision = 2
	g.step(SealSeen{Revision: 1, Epoch: 100, Ours: true})
	g.step(SealSeen{Revision: 2, Epoch: 100, Ours: true})
	var list []Member
	for i := range workers {
		m := member(uint64(200 + i))
		m.Slots = slots
		list = append(list, m)
	}
	g.step(Members{List: list})
	g.step(Tick{})
	if !g.s.Ready() {
		panic("not ready")
	}
	return g
}

// step applies an event, and carries out what comes of it without applying more.
func (g *stage) step(ev Event) []Effect {
	g.now += 100
	g.out = g.s.Step(g.now, ev, g.out[:0])
	return g.out
}

func (g *stage) submit(id string, p *Policy) { g.submitFor(id, p, Times{}) }

func (g *stage) submitFor(id string, p *Policy, times Times) {
	g.revision++
	g.step(&Submitted{ID: id, Revision: g.revision, Policy: p, Times: times, Size: 100})
}

// finish lets everything that waits be pushed, run and succeed.
func (g *stage) finish() {
	g.pushed = g.pushed[:0]
	for _, e := range g.step(Tick{}) {
		if p, ok := e.(Assign); ok {
			g.pushed = append(g.pushed, p)
		}
	}
	for _, p := range g.pushed {
		g.answers = g.answers[:0]
		for i := range p.List {
			g.answers = append(g.answers, Answer{p.List[i].ID, p.List[i].Attempt, Accepted})
		}
		g.step(&Answered{Session: p.Session, Frame: p.Frame, Answers: g.answers})
		for i := range p.List {
			for _, e := range g.step(&Done{
				Session: p.Session, ID: p.List[i].ID, Attempt: p.List[i].Attempt,
				Result: Result{Verb: Succeeded}, Ref: g,
			}) {
				if w, ok := e.(WriteOutcome); ok {
					g.revision++
					g.step(&Written{Write: w.Write, Outcome: record.Won, Revision: g.revision})
					g.ended++
				}
			}
		}
	}
}

func ids(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("0197a3f2-7c1d-7000-8000-%012d", i)
	}
	return all
}

// BenchmarkStep is all that the scheduler does for one task, from its submission to its stored
// outcome: five events.
func BenchmarkStep(b *testing.B) {
	for _, open := range []int{0, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", open), func(b *testing.B) {
			g := newStage(8, 32, SchedulerConfig{}) // room for one burst
			later := &Policy{Kind: "k", MaxAttempts: 3, Priority: -100}
			for _, id := range ids(open) {
				g.submit("w"+id, later)
			}
			const burst = 256
			names := ids(burst)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += burst {
				for _, id := range names {
					g.submit(id, policy)
				}
				g.finish()
			}
			b.StopTimer()
			runtime.KeepAlive(g)
		})
	}
}

// BenchmarkTurns is a million tasks that wait, without keys, and those of ten thousand tenants in
// turn: one goes, and another one comes.
func BenchmarkTurns(b *testing.B) {
	for _, tenants := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			g, n := newStage(8, 32, SchedulerConfig{}), 0
			submit := func() {
				e := Submitted{ID: idOf(n), Policy: policy, Size: 100}
				if tenants > 0 {
					e.Keys = &Keys{Fair: fmt.Sprint("tenant-", n%tenants)}
				}
				n, g.revision = n+1, g.revision+1
				e.Revision = g.revision
				g.step(&e)
			}
			for range 1_000_000 {
				submit()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for g.ended = 0; g.ended < b.N; {
				before := g.ended
				g.finish()
				for range g.ended - before {
					submit()
				}
			}
			b.StopTimer()
			runtime.KeepAlive(g)
		})
	}
}

// BenchmarkDispatch is handing out with many workers, of whom few have room.
func BenchmarkDispatch(b *testing.B) {
	for _, workers := range []int{10, 1000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			g := newStage(workers, 4, SchedulerConfig{})
			const burst = 16
			names := ids(burst)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += burst {
				for _, id := range names {
					g.submit(id, policy)
				}
				g.finish()
			}
		})
	}
}

// openTasks are what tasks may have that wait, each of its own: what differs from task to task, and
// how often it does not matter, such as labels, is in their policies, which they share.
var openTasks = map[string]func(i int, e *Submitted){
	"plain":    func(int, *Submitted) {},
	"delay":    func(i int, e *Submitted) { e.Times.Delay = time.Hour + time.Duration(i) },
	"deadline": func(i int, e *Submitted) { e.Times.Deadline = 24*time.Hour + time.Duration(i) },
	"sticky":   func(i int, e *Submitted) { e.Keys = &Keys{Sticky: fmt.Sprintf("%016x", i)} },
	"limit":    func(i int, e *Submitted) { e.Keys = &Keys{Limit: fmt.Sprintf("%016x", i)} },
	"unique":   func(i int, e *Submitted) { e.Keys = &Keys{Unique: fmt.Sprintf("%024x", i)} }, // as long as a digest
	"unique,sticky,deadline": func(i int, e *Submitted) {
		e.Keys = &Keys{Unique: fmt.Sprintf("%024x", i), Sticky: fmt.Sprintf("%016x", i)}
		e.Times.Deadline = 24*time.Hour + time.Duration(i)
	},
	"fair":   func(i int, e *Submitted) { e.Keys = &Keys{Fair: fmt.Sprintf("%016x", i%1000)} }, // not each of its own
	"traced": func(i int, e *Submitted) { e.Tag = fmt.Sprintf("%025x", i) },
	"all,long": func(i int, e *Submitted) {
		e.Keys = &Keys{Unique: fmt.Sprintf("%024x", i), Sticky: fmt.Sprintf("%036x", i), Limit: fmt.Sprintf("%064x", i)}
		e.Times = Times{Delay: time.Hour + time.Duration(i), Deadline: 24*time.Hour + time.Duration(i)}
	},
}

// BenchmarkMemory is what a million open tasks take that wait, each once failed.
func BenchmarkMemory(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(openTasks)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(memoryOf(1_000_000, openTasks[name]), "B/task")
			}
		})
	}
}

// TestMemoryOfOpenTasks: a task that waits takes no more than 300 bytes of the state, in all,
// whatever it has of its own, and where its id and keys are longer than 80 as many more.
func TestMemoryOfOpenTasks(t *testing.T) {
	for name, of := range openTasks {
		one := Submitted{ID: idOf(0)}
		of(0, &one)
		names := len(one.ID) + len(one.Tag)
		if k := one.Keys; k != nil {
			names += len(k.Unique) + len(k.Sticky) + len(k.Limit) + len(k.Fair)
		}
		most := 300 + float64(max(names-80, 0))
		if each := memoryOf(33_000, of); each > most { // just above a power of two: what doubles has just grown
			t.Errorf("%s: %.0f bytes for each open task with %d bytes of names: at most %.0f", name, each, names, most)
		}
	}
}

// TestMemoryOfParkedTasks: likewise one that is parked for its limit key, of a thousand tenants.
func TestMemoryOfParkedTasks(t *testing.T) {
	const n, keys = 33_000, 4
	g := newStage(1, keys, SchedulerConfig{})
	submit := func(i int) {
		g.revision++
		g.step(&Submitted{ID: idOf(i), Revision: g.revision, Policy: policy, Size: 100, Keys: &Keys{
			Fair: fmt.Sprintf("%016x", i%1000), Limit: fmt.Sprint("api", i/1000%keys),
		}})
	}
	for i := range keys {
		submit(1000 * i)
	}
	g.step(Tick{})
	before := heapInUse()
	for i := range n {
		submit(keys*1000 + i)
	}
	if each := float64(heapInUse()-before) / n; each > 300 || g.s.count[parked] != n {
		t.Errorf("%.0f bytes for each of %d parked tasks: at most 300", each, g.s.count[parked])
	}
	runtime.KeepAlive(g)
}

func idOf(i int) string { return fmt.Sprintf("0197a3f2-7c1d-7000-8000-%012d", i) }

// memoryOf is the bytes of the state for each of n tasks. Nobody else holds on to earlier memory.
func memoryOf(n int, of func(i int, e *Submitted)) float64 {
	g := newStage(1, 4, SchedulerConfig{})
	g.s.ready = false
	before := heapInUse()
	for i := range n {
		g.revision += 2
		e := Submitted{ID: idOf(i), Revision: g.revision, Policy: policy, Size: 100}
		of(i, &e)
		if e.Keys != nil && e.Keys.Unique != "" {
			g.step(UniqueSeen{Key: e.Keys.Unique, Revision: g.revision - 1, Task: e.ID})
		}
		g.step(&e)
		g.step(&Noted{ID: e.ID, Revision: g.revision, Retry: Retry{Attempt: Attempt{50, 1}, Failures: 1}})
	}
	each := float64(heapInUse()-before) / float64(n)
	runtime.KeepAlive(g)
	return each
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
