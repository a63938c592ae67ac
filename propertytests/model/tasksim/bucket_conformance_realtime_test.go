//go:build realtime

package tasksim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

const (
	bucketTTL  = 10 * time.Second
	bucketRole = "scheduler"
)

var bucketNames = []string{"a", "b", "c"}

// TestBucketConforms: sessions of the real library come and leave on a real server, over links that
// are cut. Their records are put into the model of the bucket, one by one. Then every process of
// the model sees the same of the model as the session in its place sees of the real bucket: who
// leads at which epoch, whether its own member record is there, and which sessions are dead, of all
// that ever were. The test also checks the order of records that the model takes for granted.
func TestBucketConforms(t *testing.T) {
	ats.Register() // see natstest.Main
	defer ats.Unregister()
	seen := map[string]int{}
	// Chance decides what happens: it continues until everything has.
	wanted := []string{
		"terms", "deaths", "a session over one that was not dead", "vacancies", "looks",
		"looks at a leader", "looks at a dead one", "late readers",
	}
	for seed := uint64(1); ; seed++ {
		natstest.Virtual(t, func(t *testing.T) { bucketConforms(t, seed, seen) })
		missing := ""
		for _, what := range wanted {
			if seen[what] == 0 {
				missing = what
			}
		}
		if t.Failed() || missing == "" && seed >= 2 {
			break
		}
		if seed == 40 {
			t.Fatalf("never happened: %s; %v", missing, seen)
		}
	}
	t.Log(seen)
}

func bucketConforms(t *testing.T, seed uint64, seen map[string]int) {
	s, err := natsrun.Start(natsrun.Options{VirtualTime: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // a goroutine that was about to flush a file has done so
	})
	a := elections.New(t, s, jetstream.MemoryStorage)
	c := &bucketPair{t: t, a: a, seen: seen, rng: rand.New(rand.NewPCG(seed, 11)), now: map[string]*elections.Process{}}
	c.begin()
	for _, name := range bucketNames {
		c.join(name)
	}
	for range 8 {
		c.disturb()
		for _, p := range c.now {
			p.Link.Heal()
		}
		time.Sleep(6 * bucketTTL) // all have their leases again, and see everything
		c.compare()
		c.leaderless()
	}
	a.Check()
}

// bucketPair is a real bucket with sessions, and the model.
type bucketPair struct {
	t    *testing.T
	a    *elections.Arena
	seen map[string]int
	rng  *rand.Rand
	now  map[string]*elections.Process // who lives under each name

	mu    sync.Mutex
	log   []record.Entry
	hosts map[*elections.Process]lease
}

// lease is a lease as package assign sees it.
type lease interface {
	Trusted() bool
	Session() uint64
	Members() []election.MemberInfo
	Role(name string) (election.RoleInfo, bool)
	Dead(instance string, workerOnly bool, session uint64) bool
	Closed(instance string, workerOnly bool, session uint64) bool
}

// begin writes down everything that is stored.
func (c *bucketPair) begin() {
	c.hosts = map[*elections.Process]lease{}
	bucket, err := natskv.Open(c.t.Context(), c.a.Operator(), elections.Bucket)
	if err != nil {
		c.t.Fatal(err)
	}
	watch, err := bucket.Watch(c.t.Context(), c.a.Operator(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	var taking sync.WaitGroup
	taking.Go(func() {
		for u := range watch.C() {
			c.mu.Lock()
			for _, e := range u.Entries {
				c.log = append(c.log, record.Decode(e.Key, e.Value, e.Revision, e.Marker, bucket.MaxTTL()))
			}
			c.mu.Unlock()
		}
	})
	c.t.Cleanup(func() {
		watch.Close()
		taking.Wait()
	})
}

func (c *bucketPair) join(name string) {
	p := c.a.Join(elections.Plan{
		Name: name, Session: election.SessionConfig{TTL: bucketTTL}, Roles: []election.RoleConfig{{Role: bucketRole}},
		Seed: uint64(len(c.now)),
	})
	err := p.Session.Attach("conformance", func(ctx context.Context, h election.Host) error {
		c.mu.Lock()
		c.hosts[p] = bridge.LeaseOf(h).(lease)
		c.mu.Unlock()
		<-ctx.Done()
		return nil
	})
	if err != nil && !errors.Is(err, election.ErrClosed) {
		c.t.Fatal(err)
	}
	c.now[name] = p
}

// disturb does one or two things to processes, and lets some time pass.
func (c *bucketPair) disturb() {
	for range 1 + c.rng.IntN(2) {
		name := bucketNames[c.rng.IntN(len(bucketNames))]
		p := c.now[name]
		if c.rng.IntN(3) == 0 { // the leader, rather
			if l := c.a.Leader(bucketRole); l != nil && l.Alive() {
				p, name = l, l.Name
			}
		}
		switch c.rng.IntN(5) {
		case 0:
			p.Crash()
			c.join(name) // waits for the lease of the one before it
		case 1:
			p.Link.Heal()
			_ = p.Leave() // whatever it says: it is gone
			c.join(name)
			c.seen["late readers"]++
		case 2:
			ctx, cancel := context.WithTimeout(c.t.Context(), bucketTTL)
			_ = p.Elections[bucketRole].StepDown(ctx) // it need not lead
			cancel()
		default:
			p.Link.Cut()
		}
		time.Sleep(time.Duration(c.rng.Int64N(int64(2 * bucketTTL))))
	}
}

// leaderless looks at a role whose holder is dead, which nobody else may claim for a while.
func (c *bucketPair) leaderless() {
	leader := c.a.Leader(bucketRole)
	if leader == nil || c.now[leader.Name] != leader {
		c.t.Fatalf("%v leads, long after the last fault", leader)
	}
	delete(c.now, leader.Name)
	for _, p := range c.now {
		if err := p.Elections[bucketRole].Pause(c.t.Context()); err != nil {
			c.t.Fatalf("pause %s: %v", p, err)
		}
	}
	leader.Crash()
	time.Sleep(3 * bucketTTL)
	c.compare()
	for _, p := range c.now {
		if err := p.Elections[bucketRole].Resume(c.t.Context()); err != nil {
			c.t.Fatalf("resume %s: %v", p, err)
		}
	}
	c.join(leader.Name)
}

// modelBucket is the model with what was written so far.
type modelBucket struct {
	w         *taskWorld
	procs     map[string]*participant
	model     map[uint64]uint64 // by real revision: leases and roles
	real      map[uint64]uint64 // the other way round
	sessions  map[uint64]string // by real number, with their instance
	present   map[string]uint64 // the last session of each instance
	described map[uint64]bool
	dead      map[uint64]bool
	vacant    bool // the last record of the role says so, which the model does not know
}

// rebuild puts the log into a model, and checks that records come in an order that the model can
// have.
func (c *bucketPair) rebuild() *modelBucket {
	w := &taskWorld{rng: rand.New(rand.NewPCG(1, 1))}
	w.checks.init()
	m := &modelBucket{
		w: w, procs: map[string]*participant{}, model: map[uint64]uint64{}, real: map[uint64]uint64{},
		sessions: map[uint64]string{},
		present:  map[string]uint64{}, described: map[uint64]bool{}, dead: map[uint64]bool{},
	}
	for _, name := range bucketNames {
		m.procs[name] = &participant{w: w, name: name, campaigns: true, up: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.log {
		if err := m.take(&c.log[i], c.seen); err != nil {
			c.t.Errorf("record %d of the log, %+v: %v", i, c.log[i], err)
		}
	}
	return m
}

func (m *modelBucket) take(e *record.Entry, seen map[string]int) error {
	if e.Form != record.FormRecord {
		return nil
	}
	switch e.Kind {
	case record.KindLease:
		return m.lease(e, seen)
	case record.KindMember:
		s := e.Member.Session
		switch {
		case m.sessions[s] != e.Peer.Instance:
			return fmt.Errorf("a member record of session %d, which %q has", s, m.sessions[s])
		case !m.described[s] && !m.dead[s]:
			m.described[s] = true
			m.w.append(memberRecord, m.procs[e.Peer.Instance], m.model[s])
		}
	case record.KindRole:
		if m.vacant = e.Role.Vacant; m.vacant {
			seen["vacancies"]++
			return nil
		}
		s := e.Role.Session
		if m.sessions[s] != e.Role.ID || !m.described[s] || m.dead[s] {
			return fmt.Errorf("the role is held in session %d of %q, described %t, dead %t", s, m.sessions[s], m.described[s],
				m.dead[s])
		}
		m.note(e.Revision, m.w.append(roleRecord, m.procs[e.Role.ID], m.model[s]))
		seen["terms"]++
	}
	return nil
}

func (m *modelBucket) lease(e *record.Entry, seen map[string]int) error {
	name, s := e.Peer.Instance, e.Lease.Session
	switch {
	case !e.Lease.Alive():
		if m.sessions[s] != name || m.dead[s] {
			return fmt.Errorf("the end of session %d of %q, dead %t", s, m.sessions[s], m.dead[s])
		}
		m.bury(s, seen)
	case s == 0:
		// one that knows its last one to be over writes over it
		if before := m.present[name]; before != 0 && !m.dead[before] {
			seen["a session over one that was not dead"]++
			m.bury(before, seen)
		}
		m.present[name], m.sessions[e.Revision] = e.Revision, name
		m.note(e.Revision, m.w.append(leaseRecord, m.procs[name], 0))
	case m.present[name] != s || m.dead[s]:
		return fmt.Errorf("a beat of session %d, while %d is the present one, dead %t", s, m.present[name], m.dead[s])
	}
	return nil
}

func (m *modelBucket) bury(s uint64, seen map[string]int) {
	m.dead[s] = true
	m.w.append(deathRecord, m.procs[m.sessions[s]], m.model[s])
	seen["deaths"]++
}

func (m *modelBucket) note(real, model uint64) { m.model[real], m.real[model] = model, real }

// compare asks every session that lives what it sees, and the process of the model in its place.
func (c *bucketPair) compare() {
	c.t.Helper()
	m := c.rebuild()
	for name, p := range c.now {
		c.mu.Lock()
		host, attached := c.hosts[p]
		c.mu.Unlock()
		if !attached || !host.Trusted() || host.Session() != m.present[name] {
			c.t.Fatalf("%s has no lease, long after the last fault: %t, session %d, the bucket says %d", p, attached,
				host.Session(), m.present[name])
		}
		of := m.procs[name]
		of.session = m.model[host.Session()]
		of.see(len(m.w.bucket.log))

		c.seen["looks"]++
		info, _ := host.Role(bucketRole)
		epoch := m.real[of.epoch]
		if m.vacant {
			epoch = 0
		} else if info.Revision != m.real[of.highest] {
			c.t.Errorf("%s: the role's last record is at %d, the model says %d", p, info.Revision, m.real[of.highest])
		}
		if info.Epoch != epoch {
			c.t.Errorf("%s: it sees %q leading at epoch %d, the model %d", p, info.Leader, info.Epoch, epoch)
		}
		switch {
		case epoch != 0:
			c.seen["looks at a leader"]++
		case !m.vacant:
			c.seen["looks at a dead one"]++
		}
		for _, member := range host.Members() {
			if member.Instance == name && member.Described != of.open {
				c.t.Errorf("%s: it is described: %t, the model says %t", p, member.Described, of.open)
			}
		}
		for s, of2 := range m.sessions {
			if dead := host.Dead(of2, false, s); dead != of.deaths[m.model[s]] {
				c.t.Errorf("%s: session %d of %s is dead: %t, the model says %t", p, s, of2, dead, of.deaths[m.model[s]])
			}
		}
	}
}
