package live_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// TestTasksSchedulerLostInABatch: on one server that syncs each write, outcomes go together. The
// scheduler's process is lost in the midst of a batch, when one is committed, and between two,
// at each of three moments. Each task ends once.
func TestTasksSchedulerLostInABatch(t *testing.T) {
	lost, batches := 0, 0
	for i, moment := range []tasks.Moment{tasks.Before, tasks.After, tasks.Delayed} {
		for _, within := range thorough.Pick([]bool{true}, []bool{true, false}) {
			places := []int{1 + 5*i, 20 + 5*i, 40 + 5*i}
			if !within {
				places = []int{100 + 7*i, 170 + 9*i, 240 + 11*i}
			}
			switch {
			case race.Enabled:
				places = places[:1]
			case !thorough.Larger():
				places = places[i : i+1]
			}
			t.Run(fmt.Sprintf("%v, inside a batch: %t", moment, within), func(t *testing.T) {
				natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
					for j, at := range places {
						name := fmt.Sprint("b", j)
						snip := tasks.NewSnip(name, moment, at)
						snip.Inside = within
						fired, n := loseCrowded(t, s, name, snip)
						batches += n
						if fired {
							lost++
						}
					}
				})
			})
		}
	}
	t.Logf("%d schedulers were lost, %d batches went", lost, batches)
	wantLost, wantBatches := 3, 2
	if thorough.Larger() {
		wantLost, wantBatches = 14, 9
	}
	if !race.Enabled && (lost < wantLost || batches < wantBatches) {
		t.Error("that proves little")
	}
}

const manyTasks = 400

// loseCrowded has a crowd of tasks run, most of them at once, and the scheduler lost where snip
// says. It reports whether it came to that, and how many batches the scheduler sent.
func loseCrowded(t *testing.T, s *natsrun.Server, name string, snip *tasks.Snip) (fired bool, batches int) {
	t.Helper()
	a := tasks.New(t, s, tasks.Config{Name: name, TTL: 2 * time.Second, Storage: jetstream.MemoryStorage})
	defer a.Close()
	disk := &natsrun.Disk{Prefix: "$KV.TASKS_" + name + ".", Sync: time.Millisecond}
	lost := a.Join(tasks.Plan{
		Name: "a", Idle: true,
		Path: func(l *natsrun.Link) nats.CustomDialer { return disk.Before(snip.Path(l)) },
	})
	natstest.Eventually(t, "a leads", time.Minute, func() (bool, string) { return lost.Election.IsLeader(), a.Lately() })
	a.Join(tasks.Plan{Name: "b", Idle: true})
	a.Join(tasks.Plan{Name: "w", Worker: true, Slots: manyTasks})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for i := range manyTasks {
		all.Go(func() {
			id := fmt.Sprint(name, "-", i)
			p, err := assign.Submit(ctx, a.Client, tasks.Plain, tasks.Order{Run: time.Duration(i) * time.Millisecond / 2},
				assign.WithID(id))
			if err != nil {
				t.Error(err)
				return
			}
			a.RecordLog.Acked(id)
			if _, err := p.Wait(ctx); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	all.Wait()
	at, fired, _ := snip.Fired()
	if snip.Moment == tasks.Delayed {
		lost.Link.Heal()
		time.Sleep(5 * time.Second) // virtual: they arrive, and are refused
	}
	a.Settled(time.Minute)
	if !a.Check() || t.Failed() {
		t.Errorf("lost %v write %d, which was of %s", snip.Moment, snip.At, at)
	}
	_, batches, _ = disk.Stored()
	return fired, batches
}
