package examples

import (
	"regexp"
	"strconv"
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

// testCron: the leader is killed, and another process continues. Each tick has one task, the ticks
// without a leader included.
func testCron(t *testing.T, program string) {
	s := natstest.Server(t, natstest.Listen)
	killed, stays := leader(t, start(t, s, program), start(t, s, program))
	natstest.Eventually(t, "two ticks are reported", 20*time.Second, func() (bool, string) {
		out := killed.output() + stays.output()
		return len(tick.FindAllString(out, -1)) >= 2, out
	})
	if err := killed.ends(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process has ended well")
	}
	stays.says(t, `leading at epoch \d+`, 20*time.Second)
	var ticks map[string]int
	natstest.Eventually(t, "ticks continue", 30*time.Second, func() (bool, string) {
		ticks = map[string]int{}
		out := killed.output() + stays.output()
		for _, said := range tick.FindAllStringSubmatch(out, -1) {
			ticks[said[1]]++
		}
		return len(ticks) >= 7, out
	})
	stays.endsWell(t, syscall.SIGTERM)
	var first, last time.Time
	for name := range ticks {
		at, err := time.Parse("20060102T150405Z", name)
		if err != nil {
			t.Fatal(err)
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	if want := int(last.Sub(first)/time.Second) + 1; len(ticks) < want-1 { // one was perhaps running at the kill
		t.Errorf("%d ticks in %s s: %v", len(ticks), strconv.Itoa(want), ticks)
	}
}

var tick = regexp.MustCompile(`tick (\S+): reported`)
