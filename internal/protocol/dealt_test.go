package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
)

// TestDealtAgain: a role that was lost can be claimed, and a plan leaves it to b. Then b gets
// another role, so that this one is to be ours: that one falls vacant and is dealt to b before it;
// or b claims it although no plan knows who led it, or although it was lost later. We claim what is
// ours then, and do not wait until it is our turn behind all others.
func TestDealtAgain(t *testing.T) {
	const falls, unknown, lostToo = "falls vacant", "its leader was not known", "was lost too"
	for _, other := range []string{falls, unknown, lostToo} {
		t.Run(other, func(t *testing.T) {
			g := newRig(t, nil)
			b, c := candidate("b"), candidate("c")
			first, second, led := goesToB(0), goesToB(1), goesToB(2)
			g.joins(b, 0, record.Candidacy{})
			takes := record.Candidacy{Eligible: true, Spread: true}
			prefers := takes
			prefers.Priority = 1
			session := g.m.view.Peer(b).Session()
			g.sees(record.MemberKey(b), record.Member{
				V: 1, Session: session,
				Roles: record.CandidaciesOf(map[string]record.Candidacy{first: takes, second: prefers, led: takes}),
			})
			leads := func(role string) {
				g.sees(record.RoleKey(role), record.Role{V: 1, ID: "b", Session: session, Token: role, TTLms: 100_000})
			}
			leads(led)
			g.step(Join{RoleConfig{Name: "ours"}})
			g.run(time.Second, nil)
			former := uint64(1)
			if other == falls {
				g.joins(c, 0, record.Candidacy{})
				former = g.m.view.Peer(c).Session()
			}
			if other != lostToo {
				g.sees(record.RoleKey(second), record.Role{V: 1, ID: "c", Session: former, Token: "t", TTLms: 100_000})
			}
			lost := record.Role{V: 1, Vacant: true, Forced: true, By: "c", TTLms: 6000}
			g.sees(record.RoleKey(first), lost)
			if other == lostToo {
				g.sees(record.RoleKey(second), lost)
			}
			g.effs = nil
			for _, role := range []string{first, second, led} {
				g.step(Join{RoleConfig{Name: role, Spread: true}})
			}
			g.run(5990*time.Millisecond, nil)
			g.sees(record.RoleKey("unwanted"), lost) // so that the next plan is made
			g.run(20*time.Millisecond, nil)
			if ours := g.claimed(); len(ours) > 0 {
				t.Fatalf("claims %v, want it left to b", ours)
			}
			if other == falls {
				g.sees(record.LeaseKey(c), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
			} else {
				leads(second)
			}
			g.run(50*time.Millisecond, nil)
			if ours := g.claimed(); !slices.Equal(ours, []string{first}) {
				t.Errorf("claims %v, want %s", ours, first)
			}
		})
	}
}

// goesToB is the n-th role that b comes first for, before us.
func goesToB(n int) string {
	for i := 0; ; i++ {
		role := fmt.Sprintf("r%d", i)
		if spread.Rank(role, "b") > spread.Rank(role, "a") {
			continue
		}
		if n--; n < 0 {
			return role
		}
	}
}
