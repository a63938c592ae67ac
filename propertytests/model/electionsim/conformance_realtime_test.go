//go:build realtime

package electionsim

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var conformance = flag.Int("sim.conformance", thorough.Pick(12, 25),
	"how many programs to run on the model of the bucket and on a real one")

// TestStoreConforms: the model of the bucket and a bucket of the real server, given the same steps,
// say the same: which conditional writes are stored and where, what a watch delivers and in which
// order, what a snapshot shows. The model leaves to chance when records and markers expire. The
// test takes these times from the server, and checks them against the TTLs that the server was
// given.
//
// One thing is left different on purpose: in the simulation all markers vanish after 2 MaxTTL, also
// those that are written without a TTL, since the rules may count on no more.
func TestStoreConforms(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	if err := checks.Set(fmt.Sprint(*conformance)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = checks.Set(before) }() // it was that already
	ats.Register()                            // see natstest.Main
	defer ats.Unregister()
	seen := map[string]int{}
	if err := conforms(t, usual, seen); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 10, 80).Draw(rt, "steps")
		if err := conforms(t, steps, seen); err != nil {
			rt.Fatal(err)
		}
	})
	t.Log(seen)
	if *conformance >= 25 {
		mustHaveSeen(t, seen, append(outcomes, "expired", "marker gone"))
	}
}

// outcomes are what has to come to pass.
var outcomes = []string{
	"won", "refused", "guarded won", "guarded refused", "replay won", "replay refused", "won over nothing",
	"refused over nothing",
	"won over a marker", "refused over a marker", "won over a record", "refused over a record", "deleted", "kv put",
	"kv delete",
	"kv purge", "snapshot", "recreated",
}

func mustHaveSeen(t *testing.T, seen map[string]int, wanted []string) {
	t.Helper()
	for _, what := range wanted {
		if seen[what] == 0 {
			t.Errorf("never happened: %s", what)
		}
	}
}

type action uint8

const (
	conditional action = iota
	replay
	kvPut
	kvDelete
	kvPurge
	pass
	snapshot
	recreate
)

// expectation says which revision a write expects.
type expectation uint8

const (
	right expectation = iota
	nothing
	former
	unborn
	another
)

// conformStep is one thing that is done to both.
type conformStep struct {
	do      action
	key     string
	expect  expectation
	guard   string // "" for none: the expectation is then about the key itself
	delete  bool
	garbage bool
	ttl     time.Duration
	wait    time.Duration
	which   int // of the former writes, or of the filters
}

var conformKeys = []string{"c.lease.a", "c.lease.b", "c.member.a", "c.role.r", "c.role.s", "probe.a", "w.lease.w"}

// usual is a program with everything in it that matters, so that nothing is left to chance alone.
var usual = []conformStep{
	{do: conditional, key: "c.lease.a", ttl: time.Second},
	{do: conditional, key: "c.lease.b", ttl: 5 * time.Second},
	{do: conditional, key: "c.lease.b"},
	{do: conditional, key: "c.lease.b", expect: former},
	{do: replay, which: 1},
	{do: conditional, key: "c.role.r"},
	{do: conditional, key: "probe.a", guard: "c.role.r"},
	{do: conditional, key: "c.role.r"},
	{do: conditional, key: "probe.a", guard: "c.role.r", expect: former},
	{do: kvPut, key: "c.member.a"},
	{do: pass, wait: 6 * time.Second},
	{do: snapshot},
	{do: conditional, key: "c.lease.a", expect: nothing},
	{do: kvDelete, key: "c.member.a"},
	{do: kvPurge, key: "c.lease.b"},
	{do: conditional, key: "c.lease.b", expect: nothing},
	{do: conditional, key: "c.lease.b"},
	{do: conditional, key: "c.role.s", expect: unborn},
	{do: conditional, key: "probe.a", delete: true},
	{do: conditional, key: "c.lease.b", delete: true, ttl: 3 * time.Second},
	{do: snapshot, which: 1},
	{do: pass, wait: 5 * time.Hour},
	{do: replay},
	{do: snapshot, which: 2},
	{do: recreate},
	{do: replay},
	{do: replay, which: 2},
	{do: snapshot},
}

func (a action) String() string {
	return [...]string{"write", "replay", "kv put", "kv delete", "kv purge", "pass", "snapshot", "recreate"}[a]
}

func (e expectation) String() string {
	return [...]string{"right", "nothing", "former", "unborn", "another"}[e]
}

// GoString is how rapid shows a step.
func (s conformStep) GoString() string {
	switch s.do {
	case conditional:
		return fmt.Sprintf("{write %s expecting %v of %q, delete %t, TTL %v}", s.key, s.expect, s.guard, s.delete, s.ttl)
	case pass:
		return fmt.Sprintf("{pass %v}", s.wait)
	case replay, snapshot:
		return fmt.Sprintf("{%v %d}", s.do, s.which)
	}
	return fmt.Sprintf("{%v %s}", s.do, s.key)
}

func drawStep(t *rapid.T) conformStep {
	do := rapid.SampledFrom([]action{
		conditional, conditional, conditional, conditional, conditional, conditional, replay, replay, kvPut, kvDelete,
		kvPurge, pass, pass,
		snapshot, snapshot, recreate,
	}).Draw(t, "do")
	s := conformStep{
		do: do, key: rapid.SampledFrom(conformKeys).Draw(t, "key"),
		expect: rapid.SampledFrom([]expectation{right, right, right, right, nothing, former, unborn, another}).Draw(t,
			"expect"),
		delete: rapid.IntRange(0, 7).Draw(t, "delete") == 7, garbage: rapid.IntRange(0, 7).Draw(t, "garbage") == 7,
		which: rapid.IntRange(0, 99).Draw(t, "which"),
	}
	if rapid.IntRange(0, 3).Draw(t, "guarded") == 3 {
		s.guard = rapid.SampledFrom(conformKeys).Draw(t, "guard")
	}
	s.ttl = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, 1500 * time.Millisecond, 5 * time.Second}).Draw(t,
		"ttl")
	s.wait = rapid.SampledFrom([]time.Duration{
		time.Millisecond, time.Millisecond, time.Second, 1700 * time.Millisecond, 6 * time.Second, 6 * time.Second,
		5 * time.Hour,
	}).Draw(t, "wait")
	return s
}

// conforms runs a program on both, in a bubble of its own.
func conforms(t *testing.T, steps []conformStep, seen map[string]int) (err error) {
	natstest.Virtual(t, func(t *testing.T) {
		s, e := natsrun.Start(natsrun.Options{VirtualTime: true})
		if err = e; err != nil {
			return
		}
		defer func() {
			time.Sleep(time.Second) // a goroutine that was about to flush a file has done so
			err = errors.Join(err, s.Shutdown())
		}()
		nc, e := s.Connect()
		if err = e; err != nil {
			return
		}
		defer nc.Close()
		err = inStep(&pair{nc: nc, name: "b", replicas: 1, seen: seen}, steps)
	})
	return err
}

// inStep does everything on both.
func inStep(p *pair, steps []conformStep) error {
	if err := p.create(); err != nil {
		return err
	}
	defer func() { p.leave() }()
	for i, step := range steps {
		if err := p.take(step); err != nil {
			return fmt.Errorf("step %d, %#v: %w", i, step, err)
		}
	}
	return nil
}
