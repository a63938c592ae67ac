package live_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var candidatesAtRest = flag.Int("live.candidates", thorough.Pick(30, 50), "how many candidates follow a leader at rest")

// TestCandidatesAtRest: what the server receives and sends while many candidates follow one leader
// and nothing happens, with the default times. The beats of the idle ones reach the leader alone,
// so it is the same for each candidate, however many there are. Their joining costs the square of
// their number: 300 of them, a quarter of a minute of a processor.
func TestCandidatesAtRest(t *testing.T) {
	for _, candidates := range []int{*candidatesAtRest / 2, *candidatesAtRest} {
		t.Run(fmt.Sprint(candidates), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				nc := natstest.Connect(t, s)
				led := make(chan string, candidates)
				for i := range candidates {
					session, err := election.NewSession(election.SessionConfig{
						Bucket: "roles", BucketAutoCreate: i == 0, InstanceID: fmt.Sprint("c", i),
					})
					if err != nil {
						t.Fatal(err)
					}
					lead := func(ctx context.Context, _ *election.Term) error {
						led <- session.Instance()
						<-ctx.Done()
						return nil
					}
					campaign, err := session.Campaign(election.RoleConfig{Role: "r", Lead: lead})
					if err != nil {
						t.Fatal(err)
					}
					if err := session.Open(t.Context(), nc); err != nil {
						t.Fatal(err)
					}
					if err := campaign.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					defer session.Close(context.Background())
				}
				<-led
				time.Sleep(2 * time.Minute) // several intervals of the idle ones
				messages := func() int64 {
					v, err := s.Running().Varz(nil)
					if err != nil {
						t.Fatal(err)
					}
					return v.InMsgs + v.OutMsgs
				}
				before := messages()
				const span = 2 * time.Minute
				time.Sleep(span)
				rate := float64(messages()-before) / span.Seconds()
				t.Logf("%d candidates at rest: %.1f messages/s", candidates, rate)
				if most := 1.5 * float64(candidates); rate > most {
					t.Errorf("%.1f messages/s, want at most %.0f", rate, most)
				}
				if len(led) > 0 {
					t.Errorf("the role changed hands")
				}
			})
		})
	}
}
