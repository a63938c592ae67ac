package live_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// boundaries is how many writes one run makes at least, in any case: below it the n-th must have
// come.
const boundaries = 30

// everyMoment has a long run lose a process at every write at each of three moments. thirds are
// those of the writes at which other runs lose it.
var (
	everyMoment = flag.Bool("live.every", false, "lose the scheduler of tasks at every write at each of three moments")
	thirds      = flag.String("live.thirds", "1", "lose it at these of each three writes: 1, 2, 3")
)

// A lossPlan is at which writes a process is lost: the first of them for a moment, and how far the
// next ones are apart.
type lossPlan struct{ first, apart int }

// lossPlans are those for the i-th of three moments. At each write the process is lost at one of
// the moments, in turn. The race detector makes each run ten times as long.
func lossPlans(i int) (plans []lossPlan) {
	switch {
	case race.Enabled:
		return []lossPlan{{1 + i, 42}}
	case *everyMoment:
		return []lossPlan{{1, 1}}
	}
	apart := 9
	if *thirds == "1" && !thorough.Larger() { // a third of a third
		apart = 27
	}
	for third := range 3 {
		if strings.Contains(*thirds, strconv.Itoa(third+1)) {
			plans = append(plans, lossPlan{1 + third + 3*i, apart})
		}
	}
	return plans
}

// TestTasksSchedulerLostAtEveryWrite: the scheduler's process is lost at its n-th write into the
// stream, for each n: before the write is sent, when it is stored and not acknowledged, or with all
// that it sends being held, to be let go when its successor has done the work. Then the same with
// its successor. Each n has one of these moments, in turn, and with -live.every all of them. Of
// each nine writes one has its turn, with CI set three, and with -live.thirds others. A scenario
// with every kind of write ends as it must.
func TestTasksSchedulerLostAtEveryWrite(t *testing.T) {
	for _, successor := range []bool{false, true} {
		families := map[string]bool{}
		for i, moment := range []tasks.Moment{tasks.Before, tasks.After, tasks.Delayed} {
			who := "scheduler"
			if successor {
				who = "successor"
			}
			t.Run(fmt.Sprintf("%s/%v", who, moment), func(t *testing.T) {
				for _, p := range lossPlans(i) {
					began := time.Now()
					n := p.first
					for fired := true; fired && !t.Failed(); n += p.apart {
						natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
							for i := 0; i < 12 && fired && !t.Failed(); i++ { // a server serves some
								if i > 0 {
									n += p.apart
								}
								name := fmt.Sprint("n", n)
								snip := tasks.NewSnip(name, moment, n)
								fired = loseAt(t, s, name, jetstream.MemoryStorage, snip, successor, families)
							}
						})
					}
					took := time.Since(began).Round(time.Millisecond)
					t.Logf("from write %d to %d in %v: %v", p.first, n-p.apart-1, took, families)
					if n < boundaries {
						t.Errorf("the scenario makes %d writes: that is too few to prove anything", n)
					}
				}
			})
		}
		for _, family := range []string{"seal", "q", "t", "c", "u", "k", "x", "g", "b", "e"} {
			if !t.Failed() && !race.Enabled && !families[family] {
				t.Errorf("no %s was written: a scenario without proves less than it says", family)
			}
		}
	}
}

// loseAt runs the scenario, in a namespace of its own, with a process that is lost where snip says,
// and reports whether it came to that.
func loseAt(
	t *testing.T, n elections.Network, name string, storage jetstream.StorageType, snip *tasks.Snip, successor bool,
	families map[string]bool,
) (fired bool) {
	a := tasks.New(t, n, tasks.Config{Name: name, TTL: 2 * time.Second, Storage: storage})
	defer a.Close()
	first := tasks.Plan{Name: "a", Idle: true}
	second := tasks.Plan{Name: "b"}
	if successor {
		second.Path = snip.Path
	} else {
		first.Path = snip.Path
	}
	lost := a.Join(first)
	natstest.Eventually(t, "a leads", time.Minute, func() (bool, string) { return lost.Election.IsLeader(), a.Lately() })
	other := a.Join(second)
	a.Join(tasks.Plan{Name: "w", Worker: true})
	a.Join(tasks.Plan{Name: "v", Worker: true})
	sc := &scenario{t: t, a: a}
	if successor {
		natstest.Eventually(t, "b is a member", time.Minute,
			func() (bool, string) { return bridge.Number(other.Session) > 0, a.Lately() })
		time.AfterFunc(700*time.Millisecond, lost.Crash)
		lost = other
		a.Join(tasks.Plan{Name: "c"})
	}
	sc.play()
	at, fired, _ := snip.Fired()
	for _, subject := range snip.Subjects() {
		key := strings.TrimPrefix(subject, "$KV.TASKS_"+name+".")
		family, _, _ := strings.Cut(key, ".")
		families[family] = true
	}
	if fired && snip.Moment == tasks.Delayed {
		a.Note("the held writes are let go")
		lost.Link.Heal()
		time.Sleep(5 * time.Second) // virtual: they arrive, and are refused
	}
	a.Settled(time.Minute)
	sc.expect()
	if !a.Check() || t.Failed() {
		t.Errorf("lost %v write %d, which was of %s", snip.Moment, snip.At, at)
	}
	return fired
}

// scenario is one task of each fate, and what became of it.
type scenario struct {
	t  *testing.T
	a  *tasks.Arena
	wg sync.WaitGroup
}

// step runs a part of the scenario beside the others.
func (s *scenario) step(f func(ctx context.Context) error) {
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		if err := f(ctx); err != nil {
			s.t.Error(err)
		}
	})
}

// end submits a task, waits for its end, and compares it.
func (s *scenario) end(ctx context.Context, id string, o tasks.Order, want error, opts ...assign.SubmitOption) error {
	p, err := assign.Submit(ctx, s.a.Client, tasks.Plain, o, append(opts, assign.WithID(id))...)
	if err != nil {
		return err
	}
	s.a.RecordLog.Acked(id)
	if _, err := p.Wait(ctx); !errors.Is(err, want) {
		return fmt.Errorf("%s ended with %v, want %v", id, err, want)
	}
	return nil
}

const quick = 150 * time.Millisecond

// play has a task of every fate submitted, and ends when all have ended.
func (s *scenario) play() {
	ends := func(id string, o tasks.Order, want error, opts ...assign.SubmitOption) {
		s.step(func(ctx context.Context) error { return s.end(ctx, id, o, want, opts...) })
	}
	ends("plain", tasks.Order{Run: quick}, nil)
	ends("slow", tasks.Order{Run: 3 * time.Second}, nil)
	ends("retried", tasks.Order{Run: quick, Fail: 2}, nil)
	ends("snoozed", tasks.Order{Run: quick, Snooze: true}, nil)
	ends("stepwise", tasks.Order{Run: 4 * quick, Steps: 3, Fail: 1}, nil)
	ends("expired", tasks.Order{Run: quick}, assign.ErrTaskExpired,
		assign.WithLabels(map[string]string{"of": "nobody"}), assign.WithDeadline(time.Second))
	s.step(s.requeued)
	s.step(s.unique)
	s.step(s.cancelled)
	s.step(s.grouped)
	s.step(s.chained)
	s.step(s.recurring)
	s.step(s.bundled)
	s.wg.Wait()
}

// requeued: a task that is dead runs again.
func (s *scenario) requeued(ctx context.Context) error {
	if err := s.end(ctx, "dead", tasks.Order{Run: quick, Permanent: true}, assign.ErrTaskDead); err != nil {
		return err
	}
	s.a.RecordLog.Requeues("dead")
	if err := assign.Requeue(ctx, s.a.Client, "dead"); err != nil {
		return err
	}
	if _, err := assign.Find(s.a.Client, tasks.Plain, "dead").Wait(ctx); !errors.Is(err, assign.ErrTaskDead) {
		return fmt.Errorf("the requeued task ended with %w", err)
	}
	return nil
}

// unique: the second task with a key is the first; when that has ended, the third is one of its
// own.
func (s *scenario) unique(ctx context.Context) error {
	submit := func() (*assign.Pending[string], error) {
		p, err := assign.Submit(ctx, s.a.Client, tasks.Plain, tasks.Order{Run: 5 * quick}, assign.WithUnique("only"))
		if err == nil {
			s.a.RecordLog.Acked(p.ID())
		}
		return p, err
	}
	first, err := submit()
	if err != nil {
		return err
	}
	second, err := submit()
	if err != nil {
		return err
	}
	if second.ID() != first.ID() || !second.Existing() {
		return fmt.Errorf("unique: %s beside %s, which is open", second.ID(), first.ID())
	}
	if _, err := first.Wait(ctx); err != nil {
		return err
	}
	third, err := submit()
	if err != nil {
		return err
	}
	if third.ID() == first.ID() {
		return fmt.Errorf("unique: %s has ended, and is what Submit returns", first.ID())
	}
	_, err = third.Wait(ctx)
	return err
}

// cancelled: a task that runs for long is cancelled while it runs, and one while it waits.
func (s *scenario) cancelled(ctx context.Context) error {
	for id, delay := range map[string]time.Duration{
		"cancelled-running": time.Millisecond,
		"cancelled-delayed": time.Hour,
	} {
		p, err := assign.Submit(ctx, s.a.Client, tasks.Plain, tasks.Order{Run: time.Hour, Steps: 10_000}, assign.WithID(id),
			assign.WithDelay(delay))
		if err != nil {
			return err
		}
		s.a.RecordLog.Acked(id)
		time.Sleep(5 * quick)
		if err := p.Cancel(ctx); err != nil {
			return fmt.Errorf("cancel %s: %w", id, err)
		}
	}
	return nil
}

// grouped: the completion runs once all members have ended, and they are counted right.
func (s *scenario) grouped(ctx context.Context) error {
	orders := []tasks.Order{{Run: quick}, {Run: quick, Permanent: true}, {Run: 2 * time.Second}, {Run: quick, Fail: 1}}
	g, err := assign.SubmitGroup(ctx, s.a.Client, "four", tasks.Plain, orders, tasks.Whole)
	if err != nil {
		return err
	}
	if _, err := g.Wait(ctx); err != nil {
		return err
	}
	m, err := g.Members(ctx)
	if err != nil || m.Size != 4 || m.Succeeded != 3 || m.Dead != 1 {
		return fmt.Errorf("the group: %+v, %w", m, err)
	}
	return nil
}

// chained: a task runs after another one, and one that waits for a dead task is skipped.
func (s *scenario) chained(ctx context.Context) error {
	for _, id := range []string{"before", "fatal"} {
		o := tasks.Order{Run: time.Second, Permanent: id == "fatal"}
		if _, err := assign.Submit(ctx, s.a.Client, tasks.Plain, o, assign.WithID(id)); err != nil {
			return err
		}
		s.a.RecordLog.Acked(id)
	}
	if err := s.end(ctx, "after", tasks.Order{Run: quick}, nil, assign.After("before")); err != nil {
		return err
	}
	return s.end(ctx, "skipped", tasks.Order{Run: quick}, assign.ErrTaskSkipped, assign.After("fatal"))
}

// block is that of the tasks of a bundle: with an index behind a dot, the id of one.
const block = "client.1"

// bundled: tasks that stand in one record end one after the other. One is cancelled, and one that
// is dead runs again.
func (s *scenario) bundled(ctx context.Context) error {
	err := s.a.Bundle(ctx, block, tasks.Order{Run: quick}, tasks.Order{Run: quick, Permanent: true},
		tasks.Order{Run: time.Hour, Steps: 10_000}, tasks.Order{Run: 2 * quick, Fail: 1}, tasks.Order{Run: 2 * time.Second})
	if err != nil {
		return err
	}
	member := func(i int) *assign.Pending[string] {
		return assign.Find(s.a.Client, tasks.Plain, fmt.Sprint(block, ".", i))
	}
	for i, want := range []error{nil, assign.ErrTaskDead} {
		if _, err := member(i).Wait(ctx); !errors.Is(err, want) {
			return fmt.Errorf("%d of the bundle ended with %w, want %v", i, err, want)
		}
	}
	s.a.RecordLog.Requeues(member(1).ID())
	if err := assign.Requeue(ctx, s.a.Client, member(1).ID()); err != nil {
		return fmt.Errorf("requeue one of a bundle: %w", err)
	}
	if err := member(2).Cancel(ctx); err != nil {
		return fmt.Errorf("cancel one of a bundle: %w", err)
	}
	for i := range 5 {
		if _, err := member(i).Wait(ctx); ctx.Err() != nil {
			return fmt.Errorf("%d of the bundle: %w", i, err)
		}
	}
	return nil
}

// enoughTicks are more than one scheduler's.
const enoughTicks = 3

// recurring: each tick of a recurrence comes, under every leader.
func (s *scenario) recurring(ctx context.Context) error {
	err := assign.Recur(ctx, s.a.Client, tasks.Plain, "often", "@every 1s", tasks.Order{Run: quick},
		assign.CatchUp(assign.CatchUpAll))
	if err != nil {
		return err
	}
	time.Sleep(8 * time.Second)
	for s.a.Ticks("often", time.Second) < enoughTicks && ctx.Err() == nil { // servers that have no time elect for long
		time.Sleep(time.Second)
	}
	return assign.RemoveRecurrence(ctx, s.a.Client, "often")
}

// expect checks what the arena does not know: the fates of the scenario.
func (s *scenario) expect() {
	if n := s.a.Ticks("often", time.Second); n < enoughTicks {
		s.t.Errorf("%d ticks, want %d at least", n, enoughTicks)
	}
	for id, status := range map[string]string{
		"plain": "succeeded", "slow": "succeeded", "retried": "succeeded", "snoozed": "succeeded", "stepwise": "succeeded",
		"expired": "expired", "dead": "dead",
		"cancelled-running": "cancelled", "cancelled-delayed": "cancelled", "group/four": "succeeded",
		"before": "succeeded", "after": "succeeded", "fatal": "dead", "skipped": "skipped",
		block + ".0": "succeeded", block + ".1": "dead", block + ".2": "cancelled", block + ".3": "succeeded",
		block + ".4": "succeeded",
	} {
		history := s.a.RecordLog.History(id)
		if len(history) == 0 || history[len(history)-1].Outcome == nil || history[len(history)-1].Outcome.Status != status {
			s.t.Errorf("%s is not %s:\n%s", id, status, s.a.History(id))
		}
	}
}
