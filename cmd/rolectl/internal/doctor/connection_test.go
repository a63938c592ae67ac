package doctor

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// TestClock: a record with an earlier time than the one before it means that the clock went back.
// So does a jump against the local clock.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seen  drift
		worst inventory.ClockStep
		want  findings.Level
	}{
		{drift{0, 10 * time.Millisecond, 3}, inventory.ClockStep{}, findings.OK},
		{drift{-time.Hour, -time.Hour, 3}, inventory.ClockStep{}, findings.OK},
		{drift{0, 0, 3}, inventory.ClockStep{Key: "c.member.x", Back: 500 * time.Millisecond}, findings.OK},
		{drift{0, 0, 3}, inventory.ClockStep{Key: "c.member.x", Back: time.Minute}, findings.Warning},
		{drift{0, time.Second, 3}, inventory.ClockStep{}, findings.Warning},
		{drift{}, inventory.ClockStep{}, findings.Unknown},
	} {
		var x examination
		x.judgeClock(test.seen, test.worst, time.Second)
		if f := x.List; len(f) != 1 || f[0].Check != "clock" || f[0].Level != test.want ||
			(f[0].Fix == "") != (test.want == findings.OK) {
			t.Errorf("%+v, %+v: %+v", test.seen, test.worst, f)
		}
	}
}
