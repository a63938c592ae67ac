package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// role is the role that most tests are about.
const role = "scheduler"

// ttl is that of the tests in virtual time, heartbeat and margin what follows from it.
const (
	ttl       = 10 * time.Second
	heartbeat = ttl / 5
	margin    = ttl / 5
	// soon is a few round trips and the succession delays of a handful of candidates.
	soon = 500 * time.Millisecond
)

// inArena runs a test in virtual time. In every such test no two lead at once, epochs increase,
// callbacks match, work returns before a role is given away, and no key is written in a hot loop.
func inArena(t *testing.T, run func(t *testing.T, a *elections.Arena)) {
	t.Helper()
	inStoredArena(t, jetstream.MemoryStorage, run)
}

func inStoredArena(t *testing.T, storage jetstream.StorageType, run func(t *testing.T, a *elections.Arena)) {
	t.Helper()
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := elections.New(t, s, storage)
		run(t, a)
		a.Check()
	})
}

// plan is a process that takes part in one role with the defaults.
func plan(name string, with ...func(*elections.Plan)) elections.Plan {
	p := elections.Plan{
		Name: name, Session: election.SessionConfig{TTL: ttl}, Roles: []election.RoleConfig{{Role: role}},
		Seed: uint64(len(name)),
	}
	for _, f := range with {
		f(&p)
	}
	return p
}

// crowd starts n processes, one after the other, so that the first leads and the others follow in
// order.
func crowd(a *elections.Arena, n int, with ...func(*elections.Plan)) (all []*elections.Process) {
	a.TB.Helper()
	for i := range n {
		p := a.Join(plan(fmt.Sprintf("p%d", i+1), with...))
		if err := p.Opened(); err != nil {
			a.TB.Fatal(err)
		}
		if i == 0 {
			a.AwaitLead(p, role, soon)
		}
		all = append(all, p)
	}
	time.Sleep(heartbeat) // virtual: the members are described everywhere
	return all
}

// holds are the stretches of the role, at least so many.
func holds(a *elections.Arena, atLeast int) []elections.Hold {
	a.TB.Helper()
	all := a.Ledger.Holds(role)
	if len(all) < atLeast {
		a.TB.Fatalf("%d terms, want %d at least: %v", len(all), atLeast, all)
	}
	return all
}

// within fails unless something took at most so long, by the virtual clock.
func within(a *elections.Arena, what string, from, to time.Time, limit time.Duration) {
	a.TB.Helper()
	took := to.Sub(from)
	a.TB.Logf("%s: %v", what, took)
	if took < 0 || took > limit {
		a.TB.Errorf("%s took %v, want at most %v", what, took, limit)
	}
}
