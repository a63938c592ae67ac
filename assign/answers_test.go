package assign_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAnswersFitIntoAMessage: lists are cut into smaller pages, and an overview leaves workers out,
// and says so.
func TestAnswersFitIntoAMessage(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		a := newNode(t, s, "a", nil)
		leader(t, a)
		labelled := func(_ *election.SessionConfig, a *assign.Config, _ *bool) {
			a.Labels = map[string]string{}
			for i := range 20 {
				a.Labels[fmt.Sprint("label-", i)] = strings.Repeat("v", 200)
			}
		}
		k := assign.NewKind[[]byte, []byte]("echo")
		later := assign.NewKind[[]byte, []byte]("later")
		for i := range 20 {
			newNode(t, s, fmt.Sprint("w", i), failsOnce(t, k), workerOnly, labelled)
		}
		c := New(t, s)
		const n = 600
		for i := range n {
			id := fmt.Sprintf("%s%04d", strings.Repeat("i", 190), i)
			if _, err := assign.Submit(t.Context(), c, later, []byte("x"), assign.WithID(id)); err != nil {
				t.Fatal(err)
			}
		}
		natstest.Eventually(t, "an overview", time.Minute, func() (bool, string) {
			o, err := assign.GetOverview(t.Context(), c)
			return err == nil && o.Omitted > 0 && len(o.Workers) > 0 && len(o.Workers)+o.Omitted == 20 && len(o.Kinds) == 1,
				fmt.Sprint(len(o.Workers), " workers, ", o.Omitted, " omitted, ", err)
		})
		seen, pages := map[string]bool{}, 0
		for cursor := ""; ; pages++ {
			page, err := assign.List(t.Context(), c, assign.ListOptions{
				States: []assign.State{assign.StatePending},
				Cursor: cursor, Limit: 500,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range page.Tasks {
				seen[st.ID] = true
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(seen) != n || pages < 2 {
			t.Errorf("%d tasks in %d pages", len(seen), pages)
		}
	}, func(o *natsrun.Options) { o.Configure = func(so *server.Options) { so.MaxPayload = 72 << 10 } })
}
