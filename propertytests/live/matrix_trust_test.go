package live_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// trust begins each line in which a child says that it trusts its lease: when a term began, that
// it lasted at a moment, with the session's deadline as it was then, and that it had ended by a
// moment.
const trust = "trust-"

// machineTime reads a clock that all processes of this machine have in common, and that nobody
// sets.
func machineTime() time.Time {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return time.Unix(0, now.Nano())
}

// tellTrust writes down what a process trusts of a term, every few milliseconds until the
// context ends or it is told to stop.
func tellTrust(ctx context.Context, s *election.Session, t *election.Term) (stop func()) {
	tell := func(what string, at, deadline time.Time) {
		fmt.Println(trust+what, t.Epoch(), at.UnixNano(), deadline.UnixNano())
	}
	led := time.Since(t.Since()) // before the clock is read, so that the term is not said to begin too early
	now := machineTime()
	began, deadline := now.Add(-led), now.Add(bridge.TrustedFor(s))
	if !t.Valid() {
		deadline = began // it may be that of the next session
	}
	tell("began", began, deadline)
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				tell("ended", machineTime(), time.Unix(0, 0))
				return
			case <-tick.C:
			}
			now := machineTime()
			if deadline := now.Add(bridge.TrustedFor(s)); t.Valid() {
				tell("lasts", now, deadline)
			}
		}
	})
	return func() {
		cancel()
		telling.Wait()
	}
}

// exclusive sweeps what the processes have told of their trust, as an arena does, and says how
// many violations there were. A process that was killed or stopped has trusted its lease until its
// deadline: nobody may lead before that.
func (ps *processes) exclusive(atLeast int) (violations int) {
	ps.t.Helper()
	ps.mu.Lock()
	defer ps.mu.Unlock()
	all, err := ledgerOf(ps.told)
	if err != nil {
		ps.t.Fatal(err)
	}
	terms, samples := all.Terms()
	ps.t.Logf("%d terms, trusted in %d samples", terms, samples)
	found := all.Sweep()
	for _, v := range found {
		ps.t.Error(v)
	}
	if terms < atLeast {
		ps.t.Errorf("%d terms, want %d at least", terms, atLeast)
	}
	return len(found)
}

// ledgerOf is what lines of trust come to, those of each process in their order, those of several
// in any.
func ledgerOf(lines []string) (*elections.Ledger, error) {
	all, last := elections.NewLedger(true), map[string]*elections.Hold{}
	for _, text := range lines {
		var name, what string
		var epoch uint64
		var at, until int64
		if _, err := fmt.Sscan(text, &name, &what, &epoch, &at, &until); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		moment, deadline := time.Unix(0, at), time.Unix(0, until)
		switch strings.TrimPrefix(what, trust) {
		case "began":
			last[name] = all.Promoted(name, role, 0, epoch, moment, deadline)
		case "lasts":
			all.Believed(name, role, epoch, moment, deadline)
		case "ended":
			all.Ended(last[name], moment, nil)
		}
	}
	return all, nil
}

// TestLedgerOfProcesses: two processes that lead at once are found by what they say, also when one
// was stopped and says late that it has ended, or was killed and never says so.
func TestLedgerOfProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		ends string // of a, which trusted its lease until 900
		next int    // b begins
		want int    // violations
	}{
		"one after the other":      {"a trust-ended 4 600 0", 601, 0},
		"two at once":              {"a trust-ended 4 600 0", 599, 1},
		"stopped":                  {"a trust-ended 4 5000 0", 901, 0},
		"stopped, and overtaken":   {"a trust-ended 4 5000 0", 899, 1},
		"killed":                   {"", 901, 0},
		"killed, and overtaken":    {"", 899, 1},
		"killed, and led again":    {"a trust-began 9 901 2000", 2001, 0},
		"led twice by one process": {"a trust-began 9 899 2000", 2001, 1},
	} {
		lines := []string{"a trust-began 4 100 800", "a trust-lasts 4 200 900"}
		if c.ends != "" {
			lines = append(lines, c.ends)
		}
		lines = append(lines, fmt.Sprintf("b trust-began 11 %d 9000", c.next),
			fmt.Sprintf("b trust-lasts 11 %d 9000", c.next+1))
		all, err := ledgerOf(lines)
		if err != nil {
			t.Fatal(err)
		}
		if found := all.Sweep(); len(found) != c.want {
			t.Errorf("%s: %v, want %d", name, found, c.want)
		}
	}
}
