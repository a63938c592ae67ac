package assign_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestObjectStoreOnReplicasAnswersAtOnce: no matter which of its first users has opened it. Only
// one has made it, and the others may find it before its leader answers: then what they ask is
// dropped, and the library does not ask again.
func TestObjectStoreOnReplicasAnswersAtOnce(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	const stores, users, patience = 3, 4, 15 * time.Second
	var streams [users]jetstream.JetStream
	for i := range streams {
		streams[i] = natstest.JetStream(t, s)
	}
	for n := range stores {
		cfg := assign.ClientConfig{Namespace: fmt.Sprint("n", n), Replicas: 3}
		var all sync.WaitGroup
		for i, js := range streams {
			all.Go(func() {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				o, err := assign.CreateObjects(ctx, js.Conn(), cfg)
				if err != nil || o.Replicas != 3 {
					t.Errorf("store %d, user %d: %+v, %v", n, i, o, err)
					return
				}
				store, err := js.Stream(ctx, o.Name)
				if err == nil {
					_, err = store.GetLastMsgForSubject(ctx, "nothing")
				}
				if !errors.Is(err, jetstream.ErrMsgNotFound) {
					t.Errorf("store %d, user %d: %v after %v, want %v", n, i, err, time.Since(began), jetstream.ErrMsgNotFound)
				}
			})
		}
		all.Wait()
	}
}
