package view

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// second is a point in time at which a watch is begun.
func second(n float64) record.Instant { return record.Instant(1e12 + n*1e9) }

// over feeds a view by watches over replicas, all of which were told how far the stream is.
type over struct{ *watcher }

func newOver() over {
	o := over{newWatcher()}
	o.sees("c.role.r", 20, ledBy("b", 8, 1000))
	o.sees("c.lease.a", 21, record.Lease{V: 1, Nonce: "y", TTLms: 1000, State: record.Live})
	o.sees("c.role.last", 30, ledBy("b", 8, 1000))
	return o
}

// begins is a watch that was begun at at, over a state that ends at last. The caller says what it
// delivers, and whether that is all.
func (o over) begins(at float64, last uint64, whole bool, show ...func()) {
	o.beginsBy(Watch{Begun: second(at), Told: true, Last: last}, whole, show...)
}

func (o over) beginsBy(reset Watch, whole bool, show ...func()) {
	reset.Known = o.Last()
	o.BeginWatch(reset, record.Peer{})
	for _, deliver := range show {
		deliver()
	}
	if whole {
		o.EndSnapshot(reset.Begun, nil, &o.news)
	}
}

func (o over) role(name string, rev uint64) func() {
	return func() { o.sees("c.role."+name, rev, ledBy("b", 8, 1000)) }
}

// TestDoubt: on replicas a watch that shows an older state than was known may come from one that
// lags. It is proof that the store has lost something when one that was begun BackPatience later
// still lacks what was known then, and only then.
func TestDoubt(t *testing.T) {
	type step struct {
		at    float64
		last  uint64
		whole bool
		show  []uint64 // revisions of role.r
		learn uint64   // a revision of role.r that is known afterwards
	}
	old, present := []uint64{10}, []uint64{20}
	for _, c := range []struct {
		name  string
		steps []step
		want  bool
	}{
		{"an old record, once", []step{{0, 90, true, old, 0}}, false},
		{"an old record, thirty seconds apart", []step{{0, 90, true, old, 0}, {30, 90, false, old, 0}}, true},
		{"the last revision, thirty seconds apart", []step{{0, 29, true, nil, 0}, {30, 29, false, nil, 0}}, true},
		{"first the one and then the other", []step{{0, 29, true, present, 0}, {30, 90, false, old, 0}}, true},
		{"again and again for 29 seconds", []step{
			{0, 29, true, old, 0},
			{10, 29, true, old, 0},
			{29, 29, true, old, 0},
			{30, 30, true, present, 0},
		}, false},
		{"watches that broke off prove nothing else", []step{
			{0, 29, true, old, 0},
			{10, 90, false, nil, 0},
			{30, 90, false, old, 0},
		}, true},
		{
			"a whole one between them",
			[]step{{0, 29, true, old, 0}, {10, 30, true, present, 0}, {30, 29, true, old, 0}},
			false,
		},
		{"a whole one, and two more", []step{
			{0, 29, true, old, 0},
			{10, 30, true, present, 0},
			{31, 29, true, old, 0},
			{61, 29, false, nil, 0},
		}, true},
		{"what was learnt since", []step{{0, 29, true, old, 40}, {30, 39, true, present, 0}}, false},
		{"what was learnt since, thirty seconds apart", []step{
			{0, 29, true, old, 40},
			{30, 39, true, present, 0},
			{60, 39, false, nil, 0},
		}, true},
		{"what was learnt since, thirty seconds after the first", []step{
			{0, 29, true, old, 40},
			{29, 39, true, present, 0},
			{58, 39, true, present, 0},
		}, false},
		{"nobody says when", []step{{-1000, 29, true, old, 0}, {-1000, 29, true, old, 0}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOver()
			for i, s := range c.steps {
				var show []func()
				for _, rev := range s.show {
					show = append(show, o.role("r", rev))
				}
				o.begins(s.at, s.last, s.whole, show...)
				if last := i == len(c.steps)-1; o.Regressed() != (last && c.want) {
					t.Fatalf("after the watch at %v s: went back: %v", s.at, o.Regressed())
				}
				if s.learn > 0 {
					o.role("r", s.learn)()
				}
			}
		})
	}
}

// TestDoubtIsNotSettled: what a watch shows that may be of a replica that was cut off raises a
// doubt and proves nothing, however late it was begun, and what it does not show neither; nor does
// the last revision that nobody who leads has named. The doubt stays, and asks for another watch as
// much later.
func TestDoubtIsNotSettled(t *testing.T) {
	for name, reset := range map[string]Watch{
		"a replica is behind": {Told: true, Behind: true, Last: 90},
		"there is no leader":  {Last: 5},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOver()
			blind := func(at float64, whole bool, revision uint64) {
				reset.Begun = second(at)
				o.beginsBy(reset, whole, o.role("r", revision))
				if o.Regressed() {
					t.Fatalf("went back by the watch at %v s", at)
				}
			}
			asks := func(from float64) {
				t.Helper()
				if o.AskAt() != second(from) {
					t.Fatalf("asks at %v, want %v", o.AskAt(), second(from))
				}
			}
			blind(0, true, 10)
			asks(30)
			blind(10, true, 10)
			asks(30)
			blind(31, false, 20)
			asks(61)
			o.EndSnapshot(second(32), nil, &o.news)
			asks(61)
			if !o.AskAgain(second(61)) || o.AskAgain(second(62)) {
				t.Fatal("does not ask once")
			}
			blind(61, true, 10)
			asks(91)
			o.begins(70, 90, false, o.role("r", 10))
			if !o.Regressed() {
				t.Fatal("went back: false, by a watch over replicas that are up to date")
			}
		})
	}
	t.Run("the leader's own word", func(t *testing.T) {
		o := newOver()
		for _, at := range []float64{0, 30} {
			if o.Regressed() {
				t.Fatal("went back at once")
			}
			o.beginsBy(Watch{Begun: second(at), Told: true, Behind: true, Last: 29}, true)
		}
		if !o.Regressed() {
			t.Fatal("went back: false")
		}
	})
}

// TestDoubtAsksOnce: a doubt asks for one new watch when it has lasted, and for another one only if
// that was begun too early.
func TestDoubtAsksOnce(t *testing.T) {
	o := newOver()
	asks := func(at float64, want bool) {
		t.Helper()
		if got := o.AskAgain(second(at)); got != want {
			t.Fatalf("at %v s: asks for a new watch: %v, want %v", at, got, want)
		}
	}
	asks(1000, false)
	o.begins(0, 29, true)
	if o.AskAt() != second(30) {
		t.Fatalf("asks at %v, want %v", o.AskAt(), second(30))
	}
	asks(29.999, false)
	asks(30, true)
	asks(31, false)
	o.begins(29, 29, false) // it was under way already
	asks(32, false)
	o.EndSnapshot(second(33), nil, &o.news)
	asks(33, true)
	o.begins(33, 30, false, o.role("r", 20))
	asks(100, false)
	o.EndSnapshot(second(101), nil, &o.news)
	asks(1000, false)
	if o.Regressed() || o.AskAt() != Never {
		t.Errorf("went back: %v, asks at %v after a watch that lacks nothing", o.Regressed(), o.AskAt())
	}
}

// TestRevisionGivenAgain: another record at a known revision is proof, also on replicas: no lag
// shows that.
func TestRevisionGivenAgain(t *testing.T) {
	role := ledBy("b", 8, 1000)
	vacant, another, later := record.Role{V: 1, Vacant: true, TTLms: 1000}, role, role
	another.ID, later.Session = "c", 9
	token := role
	token.Token = "u"
	lease := record.Lease{V: 1, Session: 5, Nonce: "y", TTLms: 1000, State: record.Live}
	nonce, killed, session := lease, lease, lease
	nonce.Nonce, killed.State, session.Session = "z", record.Killed, 6
	for _, c := range []struct {
		name string
		key  string
		was  any
		is   any
		want bool
	}{
		{"the same role", "c.role.r", role, role, false},
		{"vacant", "c.role.r", role, vacant, true},
		{"held", "c.role.r", vacant, role, true},
		{"another holder", "c.role.r", role, another, true},
		{"another session", "c.role.r", role, later, true},
		{"another token", "c.role.r", role, token, true},
		{"the same lease", "c.lease.a", lease, lease, false},
		{"another nonce", "c.lease.a", lease, nonce, true},
		{"another state", "c.lease.a", lease, killed, true},
		{"another session of the lease", "c.lease.a", lease, session, true},
		{"the same member", "c.member.a", record.Member{V: 1, Session: 5}, record.Member{V: 1, Session: 5}, false},
		{
			"another session of the member", "c.member.a",
			record.Member{V: 1, Session: 5},
			record.Member{V: 1, Session: 6},
			true,
		},
		{"what cannot be read", "c.role.r", role, "{}", true},
		{"what could not be read", "c.role.r", "{}", role, true},
		{"a marker", "c.member.a", record.Member{V: 1, Session: 5}, nil, true},
		{"no marker any more", "c.role.r", nil, role, true},
		{"the same marker", "c.member.a", nil, nil, false},
	} {
		for _, single := range []bool{true, false} {
			w := newWatcher()
			w.sees(c.key, 20, c.was)
			w.BeginWatch(Watch{Told: true, Single: single, Last: 90, Known: 20, Begun: second(0)}, record.Peer{})
			w.sees(c.key, 20, c.is)
			if w.Regressed() != c.want {
				t.Errorf("%s (single: %v): went back: %v, want %v", c.name, single, w.Regressed(), c.want)
			}
		}
		live := newWatcher()
		live.sees(c.key, 20, c.was)
		live.sees(c.key, 20, c.is)
		if live.Regressed() != c.want {
			t.Errorf("%s, under one watch: went back: %v, want %v", c.name, live.Regressed(), c.want)
		}
	}
}
