package examples

import (
	"maps"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// testControl: an agent is drained, the role is transferred, and the manager that leads is killed.
// The program checks itself that no change is lost, and that none goes to the drained agent.
func testControl(t *testing.T, program string) {
	p := start(t, natstest.Server(t, natstest.Listen), program)
	p.endsWell(t, 0)
	for _, line := range []string{
		"drained +agent-1", "transferred control to manager-[1-3] in", "killed +manager-[1-3], manager-[1-3] hands out",
		"360 applied, 0 lost, 0 by the drained agent",
	} {
		p.says(t, line, 0)
	}
}

// testSites: a site is cut off, works alone, comes back, is drained, and leads again. The program
// checks itself that no two processes lead one role at once, and it brings its own servers.
func testSites(t *testing.T, program string) {
	p := start(t, nil, program)
	p.endsWell(t, 0)
	p.says(t, `(?s)oslo-1 leads planner.* oslo is cut off: .* oslo-1 stops planner by its own clock, .*still leads oslo`+
		`.* (paris|rome)-1 leads planner, .* oslo-1 is stopped meanwhile: oslo-2 leads oslo, .* oslo is back`+
		`.* hands planner to oslo-2, .* zone drain oslo .* oslo-2 hands planner to (paris|rome)-1, `+
		`.* zone undrain oslo.* hands planner to oslo-2, .*\d{3,} steps, 0 by a former leader, 0 by a process .*`+
		` 0 overlaps, 0 epochs that went back`, 0)
}

// testCron: the leader is killed, and another process continues. Each tick has one task, the ticks
// without a leader included: no tick is missing, and each is reported once. The one tick that the
// killed process reported last may be reported again, if its outcome was not stored before the
// kill: as attempt 2 or as 1, since an attempt that ends together with its scheduler may be unknown
// to the next one.
func testCron(t *testing.T, program string) {
	s := natstest.Server(t, natstest.Listen)
	killed, stays := leader(t, start(t, s, program), start(t, s, program))
	natstest.Eventually(t, "two ticks are reported", 20*time.Second, func() (bool, string) {
		return len(ticks(t, killed, stays)) >= 2, killed.output() + stays.output()
	})
	if err := killed.ends(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process has ended well")
	}
	before := len(ticks(t, killed, stays))
	stays.says(t, `leading at epoch \d+`, 20*time.Second)
	const whole = "five ticks after the kill are reported, and none is missing"
	natstest.Eventually(t, whole, time.Minute, func() (bool, string) {
		all := ticks(t, killed, stays)
		times := slices.SortedFunc(maps.Keys(all), time.Time.Compare)
		missing := times[len(times)-1].Sub(times[0]) != time.Duration(len(times)-1)*time.Second
		return !missing && len(times) >= before+5, killed.output() + stays.output()
	})
	stays.endsWell(t, syscall.SIGTERM)
	var last time.Time // that the killed process has reported
	for at := range ticks(t, killed) {
		if at.After(last) {
			last = at
		}
	}
	for at, attempts := range ticks(t, killed, stays) {
		again := at.Equal(last) && len(attempts) == 2
		if len(attempts) > 1 && !again {
			t.Errorf("the tick at %v was reported in the attempts %q:\n%s%s", at, attempts, killed.output(), stays.output())
		}
	}
}

// ticks are the times that the processes have reported, with the attempts that did so.
func ticks(t *testing.T, processes ...*process) map[time.Time][]string {
	t.Helper()
	all := map[time.Time][]string{}
	for _, p := range processes {
		for _, said := range tick.FindAllStringSubmatch(p.output(), -1) {
			at, err := time.Parse("20060102T150405Z", said[1])
			if err != nil {
				t.Fatal(err)
			}
			all[at] = append(all[at], said[2])
		}
	}
	return all
}

var tick = regexp.MustCompile(`tick (\S+): reported .*, attempt (\d+)\n`)
