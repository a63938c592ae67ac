package assign_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestFramesForOurselves: a frame for the worker of the scheduler's own session is signed so that
// only that one can verify it. A frame for another worker verifies with the scheduler's public key.
func TestFramesForOurselves(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		c, spy := New(t, s), natstest.Connect(t, s)
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		for _, worker := range []string{"a", "w"} {
			if worker == "w" { // it alone runs tasks then
				a.close(t)
				a = newNode(t, s, "b", nil)
				leader(t, a)
				newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
			}
			frames, err := spy.SubscribeSync(said + ".work.assign." + worker)
			if err == nil {
				err = spy.Flush()
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := assign.Submit(t.Context(), c, double, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			m, err := frames.NextMsg(time.Second)
			if err != nil {
				t.Fatal(err)
			}
			raw, signature, err := frame.Open(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			info, _ := a.session.Role(testRole)
			v, err := fencing.NewVerifier(info.PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			if ok := v.Verify(raw, signature) == nil; ok != (worker == "w") {
				t.Errorf("a frame for %s verifies with the public key of the scheduler: %v", worker, ok)
			}
		}
	})
}
