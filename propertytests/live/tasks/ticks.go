package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Ticks checks that the ticks of a recurrence, from the first to the last that was submitted, are a
// step apart, and returns how many there are. That each comes once is T1: the id of its task is its
// own.
func (a *Arena) Ticks(name string, step time.Duration) int {
	a.TB.Helper()
	prefix := "cron/" + name + "/"
	var ticks []time.Time
	for id := range a.RecordLog.Records() {
		if text, of := strings.CutPrefix(id, prefix); of {
			tick, err := time.Parse("20060102T150405Z", text)
			if err != nil {
				a.TB.Errorf("tick %s: %v", id, err)
			}
			ticks = append(ticks, tick)
		}
	}
	slices.SortFunc(ticks, time.Time.Compare)
	if err := evenly(ticks, step); err != nil {
		a.TB.Errorf("recurrence %s: %v\nwhat led to it:%s", name, err, a.Lately())
	}
	return len(ticks)
}

func evenly(ticks []time.Time, step time.Duration) error {
	for i := 1; i < len(ticks); i++ {
		if got := ticks[i].Sub(ticks[i-1]); got != step {
			return fmt.Errorf("tick %v follows %v: %v apart, want %v", ticks[i].Format(time.TimeOnly),
				ticks[i-1].Format(time.TimeOnly), got, step)
		}
	}
	return nil
}
