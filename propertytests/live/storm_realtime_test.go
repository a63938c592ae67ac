//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

const (
	stormSeed  = 1 // of the first cycle
	stormTwice = 2 // how often each kind of fault is tried in a cycle
	stormMore  = 4 // how often at most, until a cycle owes nothing
	stormMost  = 3 // faults at a time
)

// clusterStorm is a cluster under drawn faults, with what takes part in it. All faults begin and
// end on the test's own goroutine.
type clusterStorm struct {
	t     *testing.T
	rng   *rand.Rand
	began time.Time
	c     *natsrun.Cluster
	a     *elections.Arena
	roles []string
	books map[string]*books // by role
	paths *stormRoutes
	on    []onFault
	hurt  map[*elections.Process]bool // its link has a fault

	late     sync.WaitGroup // leaders that write when their terms have ended
	lateLeft atomic.Int32   // of them
	calmed   chan struct{}
}

// onFault is a fault that lasts.
type onFault struct {
	what  string
	until time.Time
	end   func()
}

// TestRealtimeClusterStorm: drawn faults of a cluster of three, of the routes between them and of
// the candidates' links strike up to three at a time, each for a drawn while. The majority may be
// lost meanwhile, and nobody leads then. No two lead at once, epochs increase, what a deposed
// leader continues writing is refused once a later one has written, and what was acknowledged is
// there. When all has healed each role is led again (E5).
//
// Nobody is evicted: of a role that is taken by force the ledger may raise a false alarm (see
// elections.Ledger).
func TestRealtimeClusterStorm(t *testing.T) {
	first := stormSeed + cyclesBefore(t)
	playEach(t, "every kind of fault, most of them twice, up to three at a time, and the calm after them",
		func(t *testing.T, i int, all *counts) {
			stormOver(t, uint64(first+i), all)
		})
}

func stormOver(t *testing.T, seed uint64, all *counts) {
	t.Logf("seed %d: ROLEMANAGER_CYCLES_BEFORE=%d", seed, seed-stormSeed)
	s := onStorm(t, seed)
	for n := 0; n < stormTwice || n < stormMore && len(s.owes()) > 0; n++ {
		deck := s.rng.Perm(len(clusterFaults))
		for i := 0; i < len(deck) && i < 2*len(clusterFaults); i++ {
			for len(s.on) == stormMost {
				s.pass(time.Until(slices.MinFunc(s.on, onFault.sooner).until))
			}
			if !s.strike(clusterFaults[deck[i]]) {
				deck = append(deck, deck[i]) // others come first
			}
			s.pass(s.draw(0, 2*time.Second))
		}
	}
	s.calm()
	s.note("nobody writes late")
	for _, r := range s.roles {
		t.Logf("%s: %s", r, s.books[r].check(t))
	}
	if owed := s.owes(); len(owed) > 0 {
		t.Errorf("seed %d: this storm has not brought about %q", seed, owed)
	}
	s.a.Check()
	s.count(all)
}

// onStorm runs four candidates for three roles, all of which are led and written for.
func onStorm(t *testing.T, seed uint64) *clusterStorm {
	t.Helper()
	s := &clusterStorm{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), began: time.Now(), c: natstest.Cluster(t),
		roles: []string{"one", "two", "three"},
		books: map[string]*books{}, hurt: map[*elections.Process]bool{}, calmed: make(chan struct{}),
	}
	s.paths = newStormRoutes(s.c)
	var roles []election.RoleConfig
	for _, r := range s.roles {
		s.books[r] = openBooks(t, s.c, "ledger-"+r)
		roles = append(roles, election.RoleConfig{Role: r})
	}
	t.Cleanup(s.late.Wait) // they end with the test, before the directories of the books are removed
	s.a = elections.New(t, &entering{Cluster: s.c}, jetstream.FileStorage)
	for _, name := range []string{"a", "b", "c", "d"} {
		s.a.Join(elections.Plan{
			Name: name, Roles: roles, Seed: s.rng.Uint64(), Session: election.SessionConfig{TTL: steppedTTL},
			Work: elections.Work{Do: func(ctx context.Context, term *election.Term) error { return s.work(ctx, name, term) }},
		})
	}
	s.led()
	s.note("all roles are led")
	return s
}

// led waits until each role is led, and its leader has written.
func (s *clusterStorm) led() {
	s.t.Helper()
	for _, r := range s.roles {
		s.a.Await(fmt.Sprintf("E5: %s is led, and its leader writes", r), r, patience, func() bool {
			p := s.a.Leader(r)
			return p != nil && s.books[r].entries(p.Epoch(r)) > 0
		})
	}
}

// calm ends all faults, and waits until each role is led again and whatever was late was refused.
func (s *clusterStorm) calm() {
	s.t.Helper()
	for len(s.on) > 0 {
		s.endFirst()
	}
	s.note("calm")
	whole(s.t, s.c)
	s.note("all servers are up to date")
	s.led()
	s.note("all roles are led")
	close(s.calmed)
	natstest.Eventually(s.t, "what is written late was refused", patience, func() (bool, string) {
		n := s.lateLeft.Load()
		return n == 0, fmt.Sprint(n, " continue")
	})
}

// strike begins a fault, if it can be done within a few attempts.
func (s *clusterStorm) strike(f clusterFault) (done bool) {
	for range 5 {
		if what, end := f.strike(s); what != "" {
			s.note("%s: %s", f.name, what)
			s.a.Tally.Add(f.name, 1)
			if end != nil {
				s.on = append(s.on, onFault{what, time.Now().Add(s.lasts()), end})
			}
			return true
		}
		s.pass(200 * time.Millisecond)
	}
	return false
}

// lasts is how long a fault does: every other one less than it takes servers to elect or sessions
// to run out, the rest longer.
func (s *clusterStorm) lasts() time.Duration {
	if s.rng.IntN(2) == 0 {
		return s.draw(4*time.Second, 9*time.Second)
	}
	return s.draw(200*time.Millisecond, 4*time.Second)
}

func (s *clusterStorm) draw(least, most time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(most-least)))
}

// pass lets time pass, and ends the faults whose time has come.
func (s *clusterStorm) pass(d time.Duration) {
	for end := time.Now().Add(d); ; s.endFirst() {
		if len(s.on) == 0 || slices.MinFunc(s.on, onFault.sooner).until.After(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(slices.MinFunc(s.on, onFault.sooner).until))
	}
}

// note tells what is done in the trace of a violation, which has the last only, and in the test's
// log.
func (s *clusterStorm) note(format string, args ...any) {
	s.a.Note(format, args...)
	s.t.Logf("%v  %s", time.Since(s.began).Round(time.Millisecond), fmt.Sprintf(format, args...))
}

func (f onFault) sooner(g onFault) int { return f.until.Compare(g.until) }

func (s *clusterStorm) endFirst() {
	slices.SortFunc(s.on, onFault.sooner)
	s.on[0].end()
	s.note("over: %s", s.on[0].what)
	s.on = s.on[1:]
}

// owes is what a cycle has not brought about yet of what makes it prove anything.
func (s *clusterStorm) owes() (owed []string) {
	for _, f := range clusterFaults {
		owed = append(owed, s.a.Tally.Missing(f.name)...)
	}
	owed = append(owed, s.a.Tally.Missing("SessionLost")...)
	var written counts
	for _, r := range s.roles {
		s.books[r].count(&written)
	}
	for _, c := range written {
		if c.n == 0 {
			owed = append(owed, c.what)
		}
	}
	if s.a.RecordLog.Kills() == 0 {
		owed = append(owed, "a session killed")
	}
	if terms, _ := s.a.Ledger.Terms(); terms < 2*len(s.roles) {
		owed = append(owed, fmt.Sprintf("%d terms", 2*len(s.roles)))
	}
	return owed
}

// count says what a cycle has come to.
func (s *clusterStorm) count(all *counts) {
	all.of(s.a)
	for _, r := range s.roles {
		s.books[r].count(all)
	}
	for _, f := range clusterFaults {
		all.add(s.a.Tally.Count(f.name), f.name)
	}
}
