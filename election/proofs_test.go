package election_test

import (
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTenThousandProofsASecond: callers who share the questions to the server are each told that
// they lead, ten thousand times in a second of virtual time, with a server that is a millisecond
// away. The term lasts, and the session beats as often as without them.
func TestTenThousandProofsASecond(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const callers, length = 25, 2 * time.Second
		link := s.Link()
		session, sink := watched(t, s, instance("a"), link)
		p, term := lead(t, session, election.RoleConfig{Role: "r"})
		interval := session.Config().HeartbeatInterval
		time.Sleep(interval)
		link.DelayDir(natsrun.ToClient, time.Millisecond)
		beats := func() int {
			natstest.Settle(t)
			return len(ofType[event.Heartbeat](sink))
		}
		before, until := beats(), time.Now().Add(length)
		proven := make([]int, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for time.Now().Before(until) {
					if ok, err := p.ValidateToken(t.Context()); !ok || err != nil {
						t.Errorf("of a leader: %t, %v", ok, err)
						return
					}
					proven[i]++
				}
			})
		}
		wg.Wait()
		sum := 0
		for _, n := range proven {
			sum += n
		}
		sent, most := beats()-before, int(length/interval)+2
		t.Logf("%d proofs and %d heartbeats in %v", sum, sent, length)
		if least := int(10_000 * length.Seconds()); sum < least || sent > most {
			t.Errorf("%d proofs, want %d; %d heartbeats, want at most %d", sum, least, sent, most)
		}
		if !term.Valid() || len(p.ended) > 0 {
			t.Error("the term has ended")
		}
		link.Heal()
	})
}
