package tasks

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// tenants are tasks <tenant>.<n> of a kind, of one worker.
type tenants struct {
	*stage
	t     *testing.T
	waits map[string][]string // tasks that wait, by tenant, in order
	gone  map[string]int      // by tenant: tasks that have gone since its first one is the first
	most  map[string]int      // and the shares of the tenants that have waited at once since then
	keys  map[string]string   // limit keys, by task
	n     int

	shares map[string]int // by tenant, the largest that each has had
}

func newTenants(t *testing.T, slots int) *tenants {
	x := &tenants{
		stage: newStage(0, 0, SchedulerConfig{}), t: t,
		waits: map[string][]string{}, gone: map[string]int{}, most: map[string]int{},
		keys: map[string]string{}, shares: map[string]int{},
	}
	m := member(300)
	m.Slots, m.Labels = slots, map[string]string{"zone": "0"}
	x.step(Members{List: []Member{m}})
	return x
}

// submit stores a task of a tenant. Each is due a second after the one before it.
func (x *tenants) submit(tenant string, p Policy, keys Keys) string {
	x.n++
	id := fmt.Sprint(tenant, ".", x.n)
	p.Kind, p.MaxAttempts, keys.Fair = cmp.Or(p.Kind, "k"), 3, strings.TrimPrefix(tenant, "none")
	x.keys[id] = keys.Limit
	x.revision++
	x.now = x.now.Add(time.Second)
	x.step(&Submitted{ID: id, Revision: x.revision, Policy: &p, Size: 100, Keys: &keys})
	if x.waits[tenant] = append(x.waits[tenant], id); len(x.waits[tenant]) == 1 {
		x.gone[tenant], x.most[tenant] = 0, 0
	}
	return id
}

// round lets all go that can, and end.
func (x *tenants) round() (ids []string) {
	x.t.Helper()
	for tenant := range x.waits {
		x.most[tenant] = max(x.most[tenant], x.together())
	}
	x.finish()
	for _, p := range x.pushed {
		for i := range p.List {
			ids = append(ids, p.List[i].ID)
		}
	}
	for _, id := range ids {
		x.went(id)
	}
	return ids
}

// share stores a record of limits with shares.
func (x *tenants) share(declared, override map[string]int) {
	e := LimitsSeen{Kind: "k", Declared: &Limits{}, Shares: declared}
	if override != nil {
		e.Override, declared = &Override{Shares: override}, override
	}
	x.step(e)
	for tenant, n := range declared {
		x.shares[tenant] = max(x.shares[tenant], n)
	}
}

// together are the shares of the tenants that wait.
func (x *tenants) together() (n int) {
	for tenant := range x.waits {
		n += max(x.shares[tenant], 1)
	}
	return n
}

func (x *tenants) went(id string) {
	x.t.Helper()
	tenant, _, _ := strings.Cut(id, ".")
	for other, ids := range x.waits { // it is passed over only by what it could go in place of
		if slices.ContainsFunc(ids, func(of string) bool { return x.keys[of] == x.keys[id] }) {
			x.gone[other]++
		}
	}
	if n := x.gone[tenant]; n > 2*x.most[tenant] && tenant != "far" {
		x.t.Fatalf("%s goes as the %d., beside shares of %d at most", id, n, x.most[tenant])
	}
	x.gone[tenant], x.most[tenant] = 0, x.together()
	x.waits[tenant] = slices.DeleteFunc(x.waits[tenant], func(other string) bool { return other == id })
	if len(x.waits[tenant]) == 0 {
		delete(x.waits, tenant)
	}
}

// TestTenantsTakeTurns: with n tenants waiting the first task of each goes within 2n tasks of the
// kind, whatever the others have waiting, of whatever class, and whatever comes meanwhile.
func TestTenantsTakeTurns(t *testing.T) {
	seeds := thorough.Pick(uint64(60), 200)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		newTenants(t, 1+r.IntN(4)).takeTurns(seed, r, func() (Policy, Keys) { return randomPolicy(r), Keys{} })
	}
}

// TestTenantsTakeTurnsBehindALimitKey: likewise where all of them have one limit key. Where there
// are several, those within 2n tasks are the ones of a key that the tenant has too.
func TestTenantsTakeTurnsBehindALimitKey(t *testing.T) {
	seeds := thorough.Pick(uint64(100), 400)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		limits := []string{"l"}
		if seed%2 == 1 {
			limits = []string{"", "l", "m"}
		}
		bound := 1 + r.IntN(3)
		newTenants(t, 1+r.IntN(4)).takeTurns(seed, r, func() (Policy, Keys) {
			p := randomPolicy(r)
			p.KeyLimit = bound
			return p, Keys{Limit: limits[r.IntN(len(limits))]}
		})
	}
}

func randomPolicy(r *rand.Rand) (p Policy) {
	if r.IntN(2) == 0 {
		p.Labels = map[string]string{"zone": "0"}
	}
	if r.IntN(2) == 0 {
		p.Priority = r.IntN(201) - 100
	}
	return p
}

func (x *tenants) takeTurns(seed uint64, r *rand.Rand, task func() (Policy, Keys)) {
	x.t.Helper()
	submit := func(tenant string) {
		p, keys := task()
		x.submit(tenant, p, keys)
	}
	for range r.IntN(60) {
		submit("none")
	}
	if r.IntN(2) == 0 {
		x.round() // what has no fair key is parked before anything has one
	}
	for range 60 {
		for range r.IntN(5) {
			submit(fmt.Sprint("t", r.IntN(1+r.IntN(9))))
		}
		if x.round(); x.s.kinds["k"] != nil {
			if turns := x.s.kinds["k"].turns; turns != nil && turns.Len() != len(x.waits) {
				x.t.Fatalf("seed %d: %d tenants are known, %d wait", seed, turns.Len(), len(x.waits))
			}
		}
	}
	for len(x.waits) > 0 {
		if len(x.round()) == 0 {
			x.t.Fatalf("seed %d: %v do not go", seed, x.waits)
		}
	}
}

// TestTenantsTakeTurnsByShares: likewise, with n the shares of the tenants that wait, also behind
// limit keys, and while an operator changes them.
func TestTenantsTakeTurnsByShares(t *testing.T) {
	seeds := thorough.Pick(uint64(100), 400)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		x := newTenants(t, 1+r.IntN(4))
		draw := func() map[string]int {
			shares := map[string]int{}
			for n := range r.IntN(9) {
				shares[fmt.Sprint("t", n)] = 1 + r.IntN(5)
			}
			return shares
		}
		declared := draw()
		x.share(declared, nil)
		limits := []string{"", "l"}[:1+seed%2]
		x.takeTurns(seed, r, func() (Policy, Keys) {
			if seed%4 > 1 && r.IntN(20) == 0 {
				x.share(declared, [](map[string]int){nil, draw()}[r.IntN(2)])
			}
			return randomPolicy(r), Keys{Limit: limits[r.IntN(len(limits))]}
		})
	}
}

// TestSharesOfTenants: those of the record count from when it is read, before any task or between
// two; an override counts in their place, all of them, until it ends; and without a record each
// tenant has one. They outlive the tasks of the kind.
func TestSharesOfTenants(t *testing.T) {
	x := newTenants(t, 1)
	served := func(want string) {
		t.Helper()
		row := ""
		for range want {
			for _, id := range x.round() {
				row += id[:1]
			}
		}
		if row != want {
			t.Errorf("%s, and not %s", row, want)
		}
	}
	x.share(map[string]int{"a": 3, "b": 2}, nil)
	submit := func(n int) {
		for _, tenant := range []string{"a", "b", "c"} {
			for range n {
				x.submit(tenant, Policy{}, Keys{})
			}
		}
	}
	submit(30)
	served("aaabbcaaabbc")
	x.step(LimitsSeen{Kind: "k", Override: &Override{Concurrency: ptr(1)}, Shares: map[string]int{"a": 3, "b": 2}})
	served("aaabbc")
	x.share(map[string]int{"a": 3, "b": 2}, map[string]int{"c": 2})
	served("abccabcc")
	x.share(map[string]int{"a": 3, "b": 2}, map[string]int{})
	served("abcabc")
	x.share(map[string]int{"a": 2}, nil)
	served("aabcaabc")
	x.step(LimitsSeen{Kind: "k", Gone: true})
	served("abcabc")
	stored := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	x.step(SealSeen{Revision: 3, Epoch: 100, Ours: true, Stored: stored})
	x.step(LimitsSeen{
		Kind: "k", Declared: &Limits{}, Shares: map[string]int{"b": 2}, Override: &Override{Shares: map[string]int{"a": 2}},
		Until: stored.Add(time.Minute),
	})
	served("aabc")
	x.now = x.now.Add(2 * time.Minute)
	served("abbcabbc")
}

// TestATenantThatCannotGoKeepsItsTurn: it has what is left of it when it can go, and no more.
func TestATenantThatCannotGoKeepsItsTurn(t *testing.T) {
	x := newTenants(t, 1)
	x.share(map[string]int{"f": 3}, nil)
	for range 9 {
		x.submit("f", Policy{Labels: map[string]string{"zone": "1"}}, Keys{})
	}
	for _, tenant := range []string{"a", "b"} {
		for range 9 {
			x.submit(tenant, Policy{}, Keys{})
		}
	}
	x.shares["f"] = 100 // it cannot go
	zone := func(label string) {
		m := member(300)
		m.Slots, m.Labels = 1, map[string]string{"zone": label}
		x.step(Members{List: []Member{m}})
	}
	row := ""
	for _, c := range []struct {
		zone  string
		tasks int
	}{{"1", 2}, {"0", 6}, {"1", 6}} {
		zone(c.zone)
		for range c.tasks {
			for _, id := range x.round() {
				row += id[:1]
			}
		}
	}
	if row != "ffabababfabfff" {
		t.Error(row)
	}
}

// TestTurnsOutliveWhatKeepsTasksBack: whatever has kept the tasks of a kind back, when it lets them
// go the tenants take turns.
func TestTurnsOutliveWhatKeepsTasksBack(t *testing.T) {
	limits := func(l Limits) func(x *tenants) {
		return func(x *tenants) { x.step(LimitsSeen{Kind: "k", Declared: &l}) }
	}
	pause := func(is bool) func(x *tenants) {
		return func(x *tenants) { x.step(PauseSeen{Kind: "k", Revision: x.revision, Paused: is}) }
	}
	for name, c := range map[string]struct {
		policy   Policy
		keys     Keys
		from, to func(x *tenants)
		want     string
	}{
		"a pause":                 {from: pause(true), to: pause(false), want: "abcaaa"},
		"a pause behind a key":    {keys: Keys{Limit: "l"}, from: pause(true), to: pause(false), want: "abcaaa"},
		"a concurrency":           {policy: Policy{Concurrency: 1}, want: "abcaaa"},
		"a concurrency and a key": {policy: Policy{Concurrency: 1, KeyLimit: 2}, keys: Keys{Limit: "l"}, want: "abcaaa"},
		"a rate":                  {policy: Policy{Rate: 10}, want: "abcaaa"},
		"a rate and a key":        {policy: Policy{Rate: 10}, keys: Keys{Limit: "l"}, want: "abcaaa"},
		"a key":                   {keys: Keys{Limit: "l"}, want: "abcaaa"},
		"a key whose limit is more": {
			keys: Keys{Limit: "l"}, from: limits(Limits{KeyLimit: 1}), to: limits(Limits{KeyLimit: 4}), want: "abcaaa",
		},
		"labels that nobody has": {
			policy: Policy{Labels: map[string]string{"zone": "1"}}, keys: Keys{Limit: "l"}, want: "abcaaa",
			to: func(x *tenants) {
				m := member(400)
				m.Slots, m.Labels = 1, map[string]string{"zone": "1"}
				x.step(Members{List: []Member{m}})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTenants(t, 9)
			x.now = x.now.Add(time.Hour) // a rate's first moment is over
			if c.from != nil {
				c.from(x)
			}
			for range 20 {
				x.submit("a", c.policy, c.keys)
			}
			x.submit("b", c.policy, c.keys)
			x.submit("c", c.policy, c.keys)
			if c.from != nil {
				x.step(Tick{}) // what can be is parked
			}
			if c.to != nil {
				c.to(x)
			}
			var row string
			for range 100 {
				for _, id := range x.round() {
					row += id[:1]
				}
				x.now = x.now.Add(100 * time.Millisecond)
			}
			if len(row) != 22 || row[:6] != c.want {
				t.Errorf("%s", row)
			}
		})
	}
}

// TestTurnsCountInAllClasses: a tenant that has gone with a task of one class is the last in the
// other one too.
func TestTurnsCountInAllClasses(t *testing.T) {
	zone := Policy{Labels: map[string]string{"zone": "0"}}
	x := newTenants(t, 4)
	x.submit("a", Policy{}, Keys{})
	x.submit("a", zone, Keys{})
	x.submit("a", zone, Keys{})
	x.submit("b", Policy{}, Keys{})
	expect(t, "in one round", x.round(), "a.1", "b.4", "a.2", "a.3")
}

// TestATenantsOwnOrder: among the tasks of one tenant priority and age decide, and a priority takes
// no turn from another tenant.
func TestATenantsOwnOrder(t *testing.T) {
	x := newTenants(t, 1)
	x.submit("a", Policy{}, Keys{})
	x.submit("b", Policy{}, Keys{})
	x.submit("b", Policy{Priority: 100}, Keys{})
	x.submit("b", Policy{Priority: 100}, Keys{})
	var got []string
	for range 4 {
		got = append(got, x.round()...)
	}
	expect(t, "in turn", got, "a.1", "b.3", "b.4", "b.2")
}

// TestATenantThatCannotGoPassesItsTurn: its limit key is full, or nobody has its labels. It goes
// once when it can, and then in turn.
func TestATenantThatCannotGoPassesItsTurn(t *testing.T) {
	elsewhere := Policy{Labels: map[string]string{"zone": "1"}}
	x := newTenants(t, 1)
	for range 3 {
		x.submit("far", elsewhere, Keys{})
	}
	for range 20 {
		x.submit("a", Policy{}, Keys{})
	}
	for range 20 {
		x.submit("b", Policy{}, Keys{Limit: "l"})
	}
	tenantsOf := func(n int) (row string) {
		for range n {
			for _, id := range x.round() {
				row += id[:1]
			}
		}
		return row
	}
	if row := tenantsOf(8); row != "abababab" {
		t.Error(row)
	}
	m := member(300)
	m.Slots, m.Labels = 1, map[string]string{"zone": "1"}
	x.step(Members{List: []Member{m}})
	if row := tenantsOf(8); row != "fabfabfa" {
		t.Errorf("when somebody has come with its labels: %s", row)
	}
}

// TestKindsShareAsBefore: that keys take turns in one kind changes nothing for the others: the
// oldest task of each decides which of them goes.
func TestKindsShareAsBefore(t *testing.T) {
	x := newTenants(t, 1)
	m := member(301)
	m.Kinds = []string{"k", "plain"}
	x.step(Members{List: []Member{m}})
	x.submit("a", Policy{}, Keys{})
	x.submit("a", Policy{}, Keys{})
	x.submit("p", Policy{Kind: "plain"}, Keys{})
	x.submit("b", Policy{}, Keys{})
	x.submit("p", Policy{Kind: "plain"}, Keys{})
	var got []string
	for range 5 {
		got = append(got, x.round()...)
	}
	expect(t, "in order", got, "a.1", "b.4", "a.2", "p.3", "p.5")
}
