package assign_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWorkerWithoutRecordsReruns: somebody removes the lease and the member record of a worker that
// is cut off. Nobody else needs the end of that session, so the scheduler has it ended: what ran
// there runs again, and not before the worker has given up.
func TestWorkerWithoutRecordsReruns(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		c, w, others := beside(t, s, b)
		all := submitSlow(t, c, 8)
		b.allStarted(t, 8)
		lost := b.by("w")
		if lost == 0 {
			t.Fatal("nothing runs on the worker that is to be cut off")
		}
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		kv, err := js.KeyValue(t.Context(), "roles")
		if err != nil {
			t.Fatal(err)
		}
		w.link.Cut()
		for _, key := range []string{"w.member.w", "w.lease.w"} {
			if err := kv.Purge(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		natstest.Eventually(t, "what ran on the worker runs again", 10*time.Minute, func() (bool, string) {
			k := b.startedTotal()
			return k >= 8+lost, fmt.Sprint(k, " of ", 8+lost)
		})
		close(b.gate)
		waitAll(t, all, others...)
		if b.most > 1 {
			t.Errorf("one task ran %d times at once", b.most)
		}
	})
}
