package assign_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// ticksOf are the ticks of a recurrence whose tasks were started, in order of time; one that was
// started twice is there twice.
func (r *roll) ticksOf(name string) (all []time.Time) {
	for _, id := range r.started() {
		if text, ok := strings.CutPrefix(id, "cron/"+name+"/"); ok {
			tick, err := time.Parse("20060102T150405Z", text)
			if err != nil {
				panic(err)
			}
			all = append(all, tick)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// everyTick checks that ticks follow each other at a distance, none missing and none twice.
func everyTick(t *testing.T, all []time.Time, step time.Duration, least int) {
	t.Helper()
	if len(all) < least {
		t.Errorf("%d ticks, want %d at least: %v", len(all), least, all)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Sub(all[i-1]) != step {
			t.Errorf("%v follows %v, want a step of %v", all[i], all[i-1], step)
		}
	}
}

// TestTicksAcrossFailovers: the leader changes again and again; no tick comes twice, and none is
// left out.
func TestTicksAcrossFailovers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep")
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		newNode(t, s, "w", r.handle(t, "w", k), workerOnly)
		c := New(t, s)
		leader(t, a, z)
		if err := assign.Recur(t.Context(), c, k, "sweep", "@every 1s", 0, assign.CatchUp(assign.CatchUpAll)); err != nil {
			t.Fatal(err)
		}
		if err := assign.Recur(t.Context(), c, k, "minutely", "* * * * *", 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 4 {
			time.Sleep(10*time.Second + 700*time.Millisecond)
			first, second := leader(t, a, z), z
			if first == z {
				second = a
			}
			first.link.Cut()
			leader(t, second)
			time.Sleep(9 * time.Second)
			first.link.Heal()
		}
		time.Sleep(20 * time.Second)
		n := int(time.Since(began) / time.Second)
		if err := assign.RemoveRecurrence(t.Context(), c, "sweep"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		everyTick(t, r.ticksOf("sweep"), time.Second, n-1)
		if got := len(r.ticksOf("sweep")); got > n+2 {
			t.Errorf("%d ticks in %d s: it continues though it was removed", got, n)
		}
		everyTick(t, r.ticksOf("minutely"), time.Minute, 1)
	})
}

// TestMissedTicks: nobody leads for ten minutes.
func TestMissedTicks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep")
		a := newNode(t, s, "a", r.handle(t, "a", k))
		leader(t, a)
		c := New(t, s)
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(90 * time.Second))) // half past a minute
		for name, how := range map[string]assign.CatchUpPolicy{
			"all": assign.CatchUpAll, "latest": assign.CatchUpLatest,
			"skip": assign.CatchUpSkip,
		} {
			if err := assign.Recur(t.Context(), c, k, name, "* * * * *", 0, assign.CatchUp(how),
				assign.CatchUpWindow(10*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		a.close(t)
		time.Sleep(10 * time.Minute)
		b := newNode(t, s, "b", r.handle(t, "b", k))
		leader(t, b)
		time.Sleep(2 * time.Minute)
		everyTick(t, r.ticksOf("all"), time.Minute, 13)
		if got := r.ticksOf("latest"); len(got) != 4 || got[1].Sub(got[0]) != 10*time.Minute ||
			got[2].Sub(got[1]) != time.Minute {
			t.Errorf("of the latest only: %v", got)
		}
		if got := r.ticksOf("skip"); len(got) != 3 || got[1].Sub(got[0]) != 11*time.Minute {
			t.Errorf("with none of the missed ones: %v", got)
		}
		fired, dropped := map[string]int{}, map[string]int{}
		b.count(func(e event.Event) bool {
			if x, ok := e.(event.TaskTicked); ok {
				fired[x.Recurrence] += x.Fired
				dropped[x.Recurrence] += x.Dropped
			}
			return false
		})
		if fired["all"] != 12 || fired["latest"] != 3 || dropped["latest"] != 9 || fired["skip"] != 2 ||
			dropped["skip"] != 10 {
			t.Errorf("events say that there were fired %v and dropped %v", fired, dropped)
		}
	})
}

// TestTicksOfAnUnreadableDefinition: it fires nothing, and harms nobody.
func TestTicksOfAnUnreadableDefinition(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep")
		a := newNode(t, s, "a", r.handle(t, "a", k))
		leader(t, a)
		c := New(t, s)
		for i, text := range []string{
			`{"v":2}`, `{`, `{"v":1,"spec":"TZ=0","zone":"","catch_up":"all"}`,
			`{"v":1,"spec":"@every 1s","zone":"UTC","catch_up":"sometimes","task":{"v":1,"kind":"sweep","attempts":1,"backoff_ms":1,"max_backoff_ms":1}}`,
			`{"v":1,"spec":"@every 1s","zone":"UTC","catch_up":"all","catch_up_window_ms":-1,"task":{"v":1,"kind":"sweep","attempts":1,"backoff_ms":1,"max_backoff_ms":1}}`,
			`{"v":1,"spec":"@every 1s","zone":"UTC","catch_up":"all","task":{"v":1,"kind":"","attempts":1,"backoff_ms":1,"max_backoff_ms":1}}`,
		} {
			if _, err := a.nc.Request(stored+"r.bad-"+fmt.Sprint(i), []byte(text), 5*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if err := assign.Recur(t.Context(), c, k, "good", "@every 1s", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		everyTick(t, r.ticksOf("good"), time.Second, 4)
		if n := len(r.started()); n != len(r.ticksOf("good")) {
			t.Errorf("started: %v", r.started())
		}
		if n := a.count(func(e event.Event) bool {
			x, ok := e.(event.RecordIgnored)
			return ok && strings.Contains(x.Key, ".r.bad-")
		}); n != 6 {
			t.Errorf("%d of 6 records were reported", n)
		}
	})
}
