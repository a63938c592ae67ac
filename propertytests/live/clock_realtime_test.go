//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// steppedTTL is that of sessions whose server's clock steps; their leases live for a minute by that
// clock.
const steppedTTL = 3 * time.Second

func step(t *testing.T, server *natsrun.Process, d time.Duration) time.Duration {
	t.Helper()
	ahead, err := server.Step(d)
	if err != nil {
		t.Fatal(err)
	}
	return ahead.Round(time.Second)
}

// TestRealtimeServerClockSteps: the server's wall clock goes 30 s ahead and back, and 30 s back,
// while leaders are lost and replaced. No lease of a session that beats is taken away, nobody leads
// beside another one, and a fail-over takes what it takes: no rule reads that clock, and what the
// server expires by it proves nothing.
func TestRealtimeServerClockSteps(t *testing.T) {
	server := natstest.SteppingServer(t)
	a := elections.New(t, server, jetstream.FileStorage)
	for _, name := range []string{"a", "b", "c"} {
		a.Join(plan(name, func(p *elections.Plan) { p.Session = election.SessionConfig{TTL: steppedTTL} }))
	}
	a.AwaitLeader(role, patience)
	n := cycles(t)
	for _, d := range slices.Repeat([]time.Duration{
		30 * time.Second, -30 * time.Second, -30 * time.Second,
		30 * time.Second,
	}, n) {
		leader := a.AwaitLeader(role, patience)
		leader.Link.Cut() // its lease is to run out by everybody's own clock, whatever the server's says
		a.Note("the server's clock steps by %v, and is %v ahead", d, step(t, server, d))
		cut := time.Now()
		a.Await("another one leads", role, patience, func() bool {
			now := a.Leader(role)
			return now != nil && now != leader
		})
		t.Logf("stepped by %v: led again after %v", d, time.Since(cut).Round(10*time.Millisecond))
		leader.Link.Heal()
	}
	a.AwaitLeader(role, patience)
	nothingThatBeats(t, a)
	t.Logf("%d terms, %d sessions lost, %d killed", len(holds(a, 1+4*n)), a.Tally.Count("SessionLost"),
		a.RecordLog.Kills())
	a.Check()
	var all counts
	all.of(a)
	all.add(4*n, "leaders cut off")
	all.add(len(a.RecordLog.Expired()), "live leases expired")
	played(t, n, "four steps of half a minute, each with its leader cut off", all)
}

// nothingThatBeats fails for a lease that was taken away while its session beat. A step of half a
// minute leaves one another half, so that what is gone has not beaten for that long: a process that
// the machine has forgotten meanwhile. A third is for what the watch saw late. (Two steps within
// one heartbeat would add up.)
func nothingThatBeats(t *testing.T, a *elections.Arena) {
	t.Helper()
	for _, x := range a.RecordLog.Expired() {
		if t.Log("expired:", x); x.Age < 20*time.Second {
			t.Errorf("a lease of a session that beats has expired by a server's clock: %v", x)
		}
	}
}

// TestRealtimeServerClockLeaps: the clock leaps so far that the server takes live leases away,
// which lie under an expiry marker then, and goes back again. The sessions put them back; no two
// lead meanwhile, and somebody leads afterwards.
func TestRealtimeServerClockLeaps(t *testing.T) {
	// Each on a server of its own: one that has leapt looks for what has expired the later, the
	// farther it was.
	playEach(t, "a leap beyond live leases, and one back", leapAndReturn)
}

func leapAndReturn(t *testing.T, _ int, all *counts) {
	server := natstest.SteppingServer(t)
	a := elections.New(t, server, jetstream.FileStorage)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		a.Join(plan(name, func(p *elections.Plan) { p.Session = election.SessionConfig{TTL: steppedTTL} }))
	}
	a.AwaitLeader(role, patience)
	kv, err := a.KV()
	if err != nil {
		t.Fatal(err)
	}
	ahead := leap(t, a, server, kv)
	a.AwaitLeader(role, patience)
	step(t, server, -ahead)
	a.Note("back to what the clock was")
	for _, name := range names {
		natstest.Eventually(t, name+" has a lease", patience, func() (bool, string) {
			_, err := kv.Get(t.Context(), "c.lease."+name)
			return err == nil, fmt.Sprint(err)
		})
	}
	a.AwaitLeader(role, patience)
	t.Logf("%v ahead, %d live leases have expired; %d terms, %d sessions lost, %d killed", ahead,
		len(a.RecordLog.Expired()),
		len(holds(a, 1)), a.Tally.Count("SessionLost"), a.RecordLog.Kills())
	a.Check()
	all.of(a)
	all.add(len(a.RecordLog.Expired()), "live leases expired")
}

// leap moves the server's clock ahead until it has taken a live lease away, and returns by how
// much.
func leap(t *testing.T, a *elections.Arena, server *natsrun.Process, kv jetstream.KeyValue) (ahead time.Duration) {
	t.Helper()
	for n, began := 0, time.Now(); len(a.RecordLog.Expired()) == 0; n++ {
		if time.Since(began) > patience {
			t.Fatalf("%d leaps, and no lease has expired", n)
		}
		if n%50 == 0 { // the server looks for what has expired when this does
			if _, err := kv.Create(t.Context(), fmt.Sprint("probe.clock", n), nil, jetstream.KeyTTL(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		step(t, server, 2*time.Minute) // faster than anybody beats
		time.Sleep(steppedTTL / 100)
	}
	ahead = step(t, server, 0)
	a.Note("leases have expired, %v ahead", ahead)
	return ahead
}

// TestRealtimeServerClockTasks: tasks are submitted, run, fail, are put off and rerun while the
// server's clock goes forth and back by half a minute and a scheduler is lost. Each has one
// outcome, of an attempt that ran.
func TestRealtimeServerClockTasks(t *testing.T) {
	server := natstest.SteppingServer(t)
	tasksUnderSteps(t, server, func() *natsrun.Process { return server })
}

// steppedTasks is the namespace of tasks under steps.
const steppedTasks = "stepped"

// tasksUnderSteps runs tasks on servers, and steps the clock of the one that each cycle names.
func tasksUnderSteps(t *testing.T, on elections.Network, server func() *natsrun.Process) {
	t.Helper()
	const wanted = 100
	a := tasks.New(t, on, tasks.Config{Name: steppedTasks, TTL: steppedTTL, Storage: jetstream.FileStorage})
	defer a.Close()
	for _, name := range []string{"a", "b", "c"} {
		a.Join(tasks.Plan{Name: name})
	}
	n := cycles(t)
	for cycle := range n {
		stepOverTasks(t, a, server(), cycle, wanted)
		a.Settled(patience)
		if !a.Check() {
			t.FailNow()
		}
	}
	t.Logf("%d tasks, %d attempts: %v", wanted*n, len(a.Ledger.Runs()), a.Tally)
	if done := a.Tally.Count("stored/succeeded"); done != wanted*n ||
		a.Tally.Count("adopted")+a.Tally.Count("TaskReassigned") == 0 {
		t.Errorf("%d tasks have succeeded, want %d, some of them after the scheduler was lost: %v", done, wanted*n, a.Tally)
	}
	all := counts{
		{a.Tally.Count("stored/succeeded"), "tasks succeeded"},
		{len(a.Ledger.Runs()), "attempts"},
		{a.Tally.Count("adopted"), "adopted"},
		{n, "schedulers lost"},
	}
	played(t, n, "100 tasks under steps of half a minute, and a lost scheduler", all)
}

// stepOverTasks submits tasks and waits for them, steps the clock until all have ended, and loses a
// scheduler on the way.
func stepOverTasks(t *testing.T, a *tasks.Arena, server *natsrun.Process, cycle, wanted int) {
	t.Helper()
	const submitters = 20
	var submitting sync.WaitGroup
	done := make(chan struct{})
	for from := range submitters {
		submitting.Go(func() {
			for i := from; i < wanted; i += submitters {
				submitOne(t, a, cycle*wanted+i)
			}
		})
	}
	go func() {
		submitting.Wait()
		close(done)
	}()
	var lost *tasks.Process
	for n := 0; ; n++ {
		d := []time.Duration{30, -30, -30, 30}[n%4] * time.Second
		a.Note("the server's clock steps by %v, and is %v ahead", d, step(t, server, d))
		if p := a.Leader(); p != nil && n >= 2 && lost == nil {
			lost = p
			p.Crash()
			a.Join(tasks.Plan{Name: fmt.Sprint("d", cycle)})
		}
		select {
		case <-time.After(steppedTTL / 4):
			continue
		case <-done:
		}
		if lost != nil && n%4 == 3 {
			lost.Abandon() // nobody has heard of it for long
			return
		}
	}
}

// TestRealtimeServerClockBack: the server's clock goes back by half a minute, again and again, and
// what is submitted then has less time than that. None of it expires: the scheduler follows with
// the first submission.
func TestRealtimeServerClockBack(t *testing.T) {
	const (
		back   = 30 * time.Second
		wanted = 20
	)
	server := natstest.SteppingServer(t)
	a := tasks.New(t, server, tasks.Config{Name: steppedTasks, TTL: steppedTTL, Storage: jetstream.FileStorage})
	defer a.Close()
	for _, name := range []string{"a", "b"} {
		a.Join(tasks.Plan{Name: name})
	}
	submitOne(t, a, 0)
	n := cycles(t)
	for cycle := range n {
		a.Note("the server's clock steps back, and is %v behind", -step(t, server, -back))
		var submitting sync.WaitGroup
		for i := range wanted {
			submitting.Go(func() { submitOne(t, a, 1+cycle*wanted+i, assign.WithDeadline(back/2)) })
		}
		submitting.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	a.Settled(patience)
	a.Check()
	all := counts{
		{a.Tally.Count("stored/succeeded"), "tasks succeeded"},
		{a.Tally.Count("stored/expired"), "expired"},
		{n, "steps back"},
	}
	if done := wanted*n + 1; all[0].n != done || all[1].n > 0 {
		t.Errorf("%v: want all %d to succeed", all, done)
	}
	played(t, n, "20 tasks with a deadline of 15 s after a step back by 30 s", all)
}

// submitOne submits a task of one of a few fates, all of which end in success.
func submitOne(t *testing.T, a *tasks.Arena, i int, opts ...assign.SubmitOption) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o := tasks.Order{Run: time.Duration(50+i%7*50) * time.Millisecond, Fail: i % 3 / 2, Snooze: i%11 == 0}
	opts = append(opts, assign.WithID(fmt.Sprint("t", i)))
	if i%13 == 0 {
		opts = append(opts, assign.WithDelay(500*time.Millisecond))
	}
	p, err := assign.Submit(ctx, a.Client, tasks.Plain, o, opts...)
	if err != nil {
		t.Errorf("submit t%d: %v", i, err)
		return
	}
	a.RecordLog.Acked(p.ID())
	if _, err := p.Wait(ctx); err != nil {
		t.Errorf("wait for t%d: %v\n%s", i, err, a.History(p.ID()))
	}
}
