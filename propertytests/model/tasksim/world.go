package tasksim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/propertytests/model/agenda"
)

// taskWorld is everything, on one clock.
type taskWorld struct {
	Scenario
	rng     *rand.Rand
	now     time.Duration
	agenda  agenda.Agenda
	bucket  bucket
	store   taskStream
	procs   []*participant
	leads   []*lead
	calm    bool // faults have ended
	due     bool // the role is given to somebody else at the next look
	unsure  int  // submissions without an answer
	claims  *bundles.Claims
	shelves map[string][]shelf // by block
	checks
}

// after makes do happen once d has passed.
func (w *taskWorld) after(d time.Duration, do func()) {
	w.agenda.Add(w.now+max(d, 0), do)
}

// Run plays a scenario and returns what was counted; an error is a promise that was broken.
func Run(s Scenario) (Counts, error) {
	w := &taskWorld{Scenario: s, rng: rand.New(rand.NewPCG(s.Seed, 7))}
	w.checks.init()
	w.store.init(w)
	w.claims, w.shelves = bundles.NewClaims(w.claimsStand()/3), map[string][]shelf{}
	for i := range s.Processes {
		p := &participant{w: w, name: string(rune('a' + i)), campaigns: i < s.Candidates, lag: s.Lag}
		if w.chance(0.5) {
			p.lag /= 20
		}
		if w.Skewed {
			p.skew = []time.Duration{0, -time.Hour, 3 * time.Hour, 50_000 * time.Hour, -50_000 * time.Hour}[w.rng.IntN(5)]
			p.rate = []float64{0, maxRate, -maxRate}[w.rng.IntN(3)]
		}
		p.old, p.former = w.Versions && w.chance(0.5), w.Deploys && w.chance(0.5)
		w.procs = append(w.procs, p)
		joins := w.upTo(100 * time.Millisecond)
		if w.Outcast && i == s.Processes-1 {
			joins = w.outcast()
		}
		w.after(joins, p.join)
	}
	if w.Estranged {
		w.estrange()
	}
	w.after(200*time.Millisecond, w.govern)
	w.bind()
	w.shareOut()
	w.submitAll()
	w.recur()
	w.steer()
	w.step()
	w.fault()
	w.restart()
	w.rewrites()
	w.loseHosts()
	end := s.Length + s.Calm
	w.after(s.Length, w.heal)
	for w.broken == nil {
		if at, ok := w.agenda.Next(); !ok || at > end {
			break
		}
		at, do := w.agenda.Take()
		w.now = at
		do()
		if w.calm && w.agenda.Added()%1000 == 0 && w.settled() {
			break
		}
	}
	w.finish()
	w.Seconds = int(w.now / time.Second)
	if w.broken != nil {
		return w.Counts, fmt.Errorf("seed %d, at %v: %w", s.Seed, w.now, w.broken)
	}
	return w.Counts, nil
}

// settled reports whether every task that was submitted has its outcome, some time after the faults
// have ended.
func (w *taskWorld) settled() bool {
	if w.now < w.Length+10*w.Lease || w.unsure > 0 || w.Recurring && (w.removed == 0 || w.now < w.removed+w.Lease) ||
		w.store.leftOver() != "" {
		return false
	}
	for id := range w.acked {
		if !w.over(id) {
			return false
		}
	}
	return true
}

func (w *taskWorld) chance(p float64) bool { return w.rng.Float64() < p }

func (w *taskWorld) upTo(d time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

// travel is how long a message is under way: mostly short, sometimes very long.
func (w *taskWorld) travel() time.Duration {
	if !w.calm && w.chance(w.Late) {
		return w.upTo(5 * w.Lease)
	}
	return time.Millisecond + w.upTo(w.Delay)
}

// send carries a message to its receiver: it may be lost, doubled and late.
func (w *taskWorld) send(from, to *participant, deliver func()) {
	copies := 1
	if !w.calm {
		if w.chance(w.Loss) {
			copies = 0
		} else if w.chance(w.Doubled) {
			copies = 2
		}
	}
	for range copies {
		w.after(w.travel(), func() {
			if from.cut || to.cut || !to.up {
				w.Lost++
				return
			}
			to.does(deliver)
		})
	}
}

// tell tells what happens to one task, or to all, when that is asked for.
func (w *taskWorld) tell(id, format string, args ...any) {
	if w.Story != nil && (w.Trace == id || w.Trace == "") {
		fmt.Fprintf(w.Story, "%12v %s\n", w.now, fmt.Sprintf(format, args...))
	}
}

// describe says where everybody stands, for a failure.
func (w *taskWorld) describe(id string) string {
	out := ""
	for _, l := range w.leads {
		if !l.over {
			g, known := l.s.TaskInfo(l.p.instant(), id)
			out += fmt.Sprintf("scheduler %s epoch %d ready %t: %+v %t; ", l.p.name, l.epoch, l.s.Ready(), g, known)
		}
	}
	for _, p := range w.procs {
		out += fmt.Sprintf("%s session %d cut %t up %t view %d", p.name, p.session, p.cut, p.up, p.epoch)
		if p.work != nil {
			out += fmt.Sprintf(" holds %v", p.work.m.Holding())
		}
		out += "; "
	}
	return out
}
