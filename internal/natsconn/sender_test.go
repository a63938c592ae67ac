package natsconn

import (
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// TestRefresh: a Sender that sends nothing still learns a new max_payload when a message is found
// too large.
func TestRefresh(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	var wg sync.WaitGroup
	s := NewSender(nc, &wg)
	defer wg.Wait()
	defer s.Stop()
	most := s.MaxPayload()
	s.max.Store(100) // the previous server's
	s.Refresh()
	natstest.Eventually(t, "the present limit", time.Minute,
		func() (bool, string) { return s.MaxPayload() == most && most > 100, "" })
}
