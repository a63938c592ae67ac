package election_test

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestVacantIsOfTheRecord: a role that is given up is told of as vacant. One whose leader was
// killed has no leader, by LeaderChanged, until it is claimed: its record never says that it is
// vacant.
func TestVacantIsOfTheRecord(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		a := open(t, s, instance("a"), link.Options()...)
		pa, first := lead(t, a, election.RoleConfig{Role: "r"})
		b := open(t, s, instance("b"))
		ctx, stop := context.WithCancel(t.Context())
		events := b.Events(ctx)
		pb := campaign(t, b, election.RoleConfig{Role: "r"})
		var vacant []event.RoleVacant
		var leaders []string
		collect := func(until string) {
			for e := range events {
				switch e := e.(type) {
				case event.RoleVacant:
					vacant = append(vacant, e)
				case event.LeaderChanged:
					if leaders = append(leaders, e.Leader); e.Leader == until {
						return
					}
				}
			}
		}
		natstest.Eventually(t, "b sees a lead", time.Minute, func() (bool, string) {
			return pb.LeaderID() == "a" && a.Connected(), pb.LeaderID()
		})
		link.Cut()
		receive(t, "b leads", pb.began)
		collect("b")
		if n := len(leaders); len(vacant) > 0 || n < 2 || leaders[n-2] != "" {
			t.Errorf("the leader was killed: vacant %+v, leaders %q", vacant, leaders)
		}
		link.Heal()
		receive(t, "the first term ends", pa.ended)
		natstest.Eventually(t, "a is back", time.Minute, func() (bool, string) {
			return len(pb.Status().Candidates) == 2, ""
		})
		second := pb.Token().Epoch
		if err := pb.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		collect("a")
		if len(vacant) != 1 || vacant[0].By != "b" || vacant[0].Reason != "stepped down" || vacant[0].Epoch != second ||
			second <= first.Epoch() {
			t.Errorf("the leader has stepped down at epoch %d: vacant %+v", second, vacant)
		}
		stop()
	})
}
