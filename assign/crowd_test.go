package assign_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestIdleWorkersTogether: workers that have nothing to do write fifty times a second together,
// however many they are, although they do not see each other. Each of these 40 would do so every
// 400 ms by itself, a hundred times a second.
func TestIdleWorkersTogether(t *testing.T) {
	costly(t)
	thorough.Only(t, "it has 40 workers")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const workers, seconds = 40, 20
		often := func(s *election.SessionConfig, _ *assign.Config, _ *bool) { s.IdleFactor = 1 }
		leader(t, newNode(t, s, "a", nil, often))
		for i := range workers {
			newNode(t, s, fmt.Sprint("w", i), nil, workerOnly, often)
		}
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		var beats atomic.Int64
		if _, err := nc.Subscribe("$KV.roles.i.w.>", func(*nats.Msg) { beats.Add(1) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // virtual: until the scheduler has told them
		beats.Store(0)
		time.Sleep(seconds * time.Second)
		if n := beats.Load(); n > 50*seconds || n < 40*seconds {
			t.Errorf("%d idle workers wrote %.1f times a second", workers, float64(n)/seconds)
		}
	})
}
