package election_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTurnEndsNoTerm: beside an idle candidate a leader watches everything, and the usual keys
// again after that one has left. Each watch is made beside the present one. So no term ends, and
// nothing is missed of what is written meanwhile.
func TestTurnEndsNoTerm(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := open(t, s, instance("a"))
		work, _ := lead(t, a, election.RoleConfig{Role: "r"})
		worker := instance("w")
		worker.WorkerOnly = true
		open(t, s, worker)
		writer := open(t, s, instance("writer"))
		lead(t, writer, election.RoleConfig{Role: "first"}) // else it would be idle itself
		roles := 0
		turns := func(wide bool) {
			for range 40 { // longer than the turn takes to begin
				campaign(t, writer, election.RoleConfig{Role: fmt.Sprint("role-", roles)})
				roles++
				time.Sleep(100 * time.Millisecond) // virtual
			}
			natstest.Eventually(t, fmt.Sprintf("the watch shows workers: %v", wide), time.Minute, func() (bool, string) {
				all := a.Members()
				shown := slices.ContainsFunc(all, func(m election.MemberInfo) bool { return m.Instance == "w" })
				return shown == wide, fmt.Sprint(len(all))
			})
			natstest.Eventually(t, "every role is known", time.Minute, func() (bool, string) {
				n := 0
				for _, r := range a.Roles() {
					if r.Leader == "writer" {
						n++
					}
				}
				return n == roles+1, fmt.Sprintf("%d of %d", n, roles+1)
			})
		}
		for range 3 {
			beside := open(t, s, instance("beside"))
			turns(true)
			if err := beside.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			turns(false)
		}
		none(t, "the term ended", work.ended)
	})
}
