package stage

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

func TestCountTicks(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	got := countTicks(map[time.Time]assign.State{
		at(7): assign.StateSucceeded, at(5): assign.StateSucceeded, at(6): assign.StateSucceeded,
		at(10): assign.StateRunning,
	})
	if want := (ticks{Fired: 3, Left: 1, Missing: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if none := countTicks(nil); none != (ticks{}) {
		t.Errorf("counted %+v in nothing", none)
	}
}
