package permissions_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRestartsBesideAnIdleLease: a process that begins again under its name, while the lease of its
// last life stands idle, has to see the beats of that to know that there are none.
func TestRestartsBesideAnIdleLease(t *testing.T) {
	for id, edit := range map[string]func(*election.SessionConfig){
		"b": func(*election.SessionConfig) {}, "w": workerOnly,
	} {
		t.Run(id, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settles(t)
				var heard denials
				owner := as(t, s, "owner", &heard)
				owns(t, owner)
				observer, err := election.Observe(t.Context(), owner, bucket, election.WithWorkers())
				if err != nil {
					t.Fatal(err)
				}
				defer observer.Close()
				link := s.Link()
				crashes := session(t, id, edit)
				open(t, crashes, as(t, s, id, &heard, append(link.Options(), nats.ReconnectWait(50*time.Millisecond))...))
				natstest.Eventually(t, "it is idle", time.Minute, func() (bool, string) {
					all := observer.Members()
					return len(all) == 1 && all[0].Idle, fmt.Sprintf("%+v", all)
				})
				link.Cut()
				open(t, session(t, id, edit), as(t, s, id, &heard))
				link.Heal() // so that the server is heard by all
				if said := heard.all(t); said != "" {
					t.Errorf("the server complains:\n%s", said)
				}
			}, published(t))
		})
	}
}
