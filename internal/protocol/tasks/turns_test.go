package tasks

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// tenants are tasks <tenant>.<n> of a kind, of one worker.
type tenants struct {
	*stage
	t     *testing.T
	waits map[string][]string // tasks that wait, by tenant, in order
	gone  map[string]int      // by tenant: tasks that have gone since its first one is the first
	most  map[string]int      // and how many tenants have waited at once since then
	n     int
}

func newTenants(t *testing.T, slots int) *tenants {
	x := &tenants{
		stage: newStage(0, 0, SchedulerConfig{}), t: t,
		waits: map[string][]string{}, gone: map[string]int{}, most: map[string]int{},
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
		x.most[tenant] = max(x.most[tenant], len(x.waits))
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

func (x *tenants) went(id string) {
	x.t.Helper()
	tenant, _, _ := strings.Cut(id, ".")
	for other := range x.waits {
		x.gone[other]++
	}
	if n := x.gone[tenant]; n > 2*x.most[tenant] && tenant != "far" {
		x.t.Fatalf("%s goes as the %d., beside %d tenants at most", id, n, x.most[tenant])
	}
	x.gone[tenant], x.most[tenant] = 0, len(x.waits)
	x.waits[tenant] = slices.DeleteFunc(x.waits[tenant], func(other string) bool { return other == id })
	if len(x.waits[tenant]) == 0 {
		delete(x.waits, tenant)
	}
}

// TestTenantsTakeTurns: with n tenants waiting the first task of each goes within 2n tasks of the
// kind, whatever the others have waiting, of whatever class, and whatever comes meanwhile.
func TestTenantsTakeTurns(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		x := newTenants(t, 1+r.IntN(4))
		policyOf := func() (p Policy) {
			if r.IntN(2) == 0 {
				p.Labels = map[string]string{"zone": "0"}
			}
			if r.IntN(2) == 0 {
				p.Priority = r.IntN(201) - 100
			}
			return p
		}
		for range r.IntN(60) {
			x.submit("none", policyOf(), Keys{})
		}
		for range 60 {
			for range r.IntN(5) {
				x.submit(fmt.Sprint("t", r.IntN(1+r.IntN(9))), policyOf(), Keys{})
			}
			if x.round(); x.s.kinds["k"] != nil {
				if turns := x.s.kinds["k"].turns; turns != nil && turns.Len() != len(x.waits) {
					t.Fatalf("seed %d: %d tenants are on the books, %d wait", seed, turns.Len(), len(x.waits))
				}
			}
		}
		for len(x.waits) > 0 {
			if len(x.round()) == 0 {
				t.Fatalf("seed %d: %v do not go", seed, x.waits)
			}
		}
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
