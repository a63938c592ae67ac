package zone

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestRank: a member of a better tier is before all others, whatever the priorities are, and in one
// tier the priority decides. The priority can be read from a rank.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching("z[0-9]{1,3}"), 0, MaxZones, rapid.ID).Draw(t, "zones")
		member := func(what string) (place int, priority, tier, rank int32) {
			place = rapid.IntRange(0, len(names)).Draw(t, what)
			priority = rapid.Int32Range(-MaxPriority, MaxPriority).Draw(t, what+" priority")
			own, drained := "elsewhere", rapid.IntRange(0, 4).Draw(t, what+" drained") == 0
			if place < len(names) {
				own = names[place]
			}
			if drained {
				place = len(names) + 1
			}
			tier = Tier(names, own, drained)
			return place, priority, tier, Rank(tier, priority)
		}
		a, pa, ta, ra := member("a")
		b, pb, tb, rb := member("b")
		switch {
		case a < b && (ta <= tb || ra <= rb):
			t.Fatalf("place %d has tier %d and rank %d, place %d tier %d and rank %d", a, ta, ra, b, tb, rb)
		case a == b && (ta != tb || (pa < pb) != (ra < rb)):
			t.Fatalf("in one tier %d and %d have the ranks %d and %d", pa, pb, ra, rb)
		case Priority(ta, ra) != pa:
			t.Fatalf("rank %d of tier %d has priority %d, not %d", ra, ta, Priority(ta, ra), pa)
		}
	})
}

// TestRankOfAnyPriority: a role without zones may have any priority, also while its zone is
// drained.
func TestRankOfAnyPriority(t *testing.T) {
	for _, p := range []int32{math.MinInt32, -1, 0, math.MaxInt32} {
		if Rank(Last, p) != p || Priority(Last, p) != p || Rank(Drained, p) > p {
			t.Errorf("priority %d: rank %d, drained %d", p, Rank(Last, p), Rank(Drained, p))
		}
	}
}

// TestFailBacks: with any terms that end early or late, the wait is the one of a plain count: it
// doubles with each fail-back that ended within it, starts again after one that lasted, and is
// never longer than an hour, or than what was asked for.
func TestFailBacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		after := time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(t, "after"))
		var h History
		want := after
		for range rapid.IntRange(0, 300).Draw(t, "terms") {
			lasted := time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(t, "lasted"))
			back := rapid.Bool().Draw(t, "back")
			h = h.Ended(lasted, after) // of a worse tier: changes nothing
			if back {
				meant := rapid.Bool().Draw(t, "meant")
				if h = h.Given().Claimed(meant); !meant {
					lasted = 0
				}
				if h = h.Ended(lasted, after); lasted >= want {
					want = after
				} else {
					want = min(2*want, max(after, time.Hour))
				}
			}
			if h.Back || h.Wait(after) != want {
				t.Fatalf("%+v waits %v, want %v", h, h.Wait(after), want)
			}
		}
	})
}

// TestPresent: a candidate counts from when its present session came, or came again.
func TestPresent(t *testing.T) {
	var p Present
	there := func(now record.Instant, all ...Candidate) { p.Update(now, slices.Clone(all)) }
	want := func(instance string, since record.Instant) {
		t.Helper()
		if got, ok := p.Since(instance); !ok || got != since {
			t.Errorf("%s is there since %d, %v; want %d", instance, got, ok, since)
		}
	}
	a, again, b := Candidate{"a", 1, 5}, Candidate{"a", 9, 40}, Candidate{"b", 2, 6}
	there(10, a)
	want("a", 5)
	there(20, a, b)
	want("a", 5)
	want("b", 20)
	there(30, b)
	if _, ok := p.Since("a"); ok {
		t.Error("a is there though it has left")
	}
	there(40, again, b)
	want("a", 40)
	want("b", 20)
	there(50, Candidate{"a", 10, 50})
	want("a", 50)
}
