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
// another role, so that this one is to be ours: that one falls vacant and is dealt to b before it,
// or b claims it although no plan knows who led it. We claim what is ours then, and do not wait
// until it is our turn behind all others.
func TestDealtAgain(t *testing.T) {
	for name, known := range map[string]bool{"dealt to b": true, "claimed by b": false} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			b, c := candidate("b"), candidate("c")
			lost, other := goesToB(0), goesToB(1)
			g.joins(b, 0, record.Candidacy{})
			takes := record.Candidacy{Eligible: true, Spread: true}
			g.sees(record.MemberKey(b), record.Member{
				V: 1, Session: g.m.view.Peer(b).Session(),
				Roles: record.CandidaciesOf(map[string]record.Candidacy{lost: takes, other: takes}),
			})
			session := uint64(1)
			if known {
				g.joins(c, 0, record.Candidacy{})
				session = g.m.view.Peer(c).Session()
			}
			g.sees(record.RoleKey(other), record.Role{V: 1, ID: "c", Session: session, Token: "t", TTLms: 100_000})
			g.sees(record.RoleKey(lost), record.Role{V: 1, Vacant: true, Forced: true, By: "c", TTLms: 6000})
			g.step(Join{RoleConfig{Name: lost, Spread: true}})
			g.step(Join{RoleConfig{Name: other, Spread: true}})
			g.run(6010*time.Millisecond, nil)
			if ours := g.claimed(); len(ours) > 0 {
				t.Fatalf("claims %v, want it left to b", ours)
			}
			if known {
				g.sees(record.LeaseKey(c), record.Lease{V: 1, Session: session, State: record.Killed, By: "b"})
			} else {
				g.sees(record.RoleKey(other), record.Role{
					V: 1, ID: "b", Session: g.m.view.Peer(b).Session(), Token: "b", TTLms: 100_000,
				})
			}
			g.run(50*time.Millisecond, nil)
			if ours := g.claimed(); !slices.Equal(ours, []string{lost}) {
				t.Errorf("claims %v, want %s", ours, lost)
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
