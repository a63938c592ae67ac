package assign_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestStatusOfAnAttempt: the status has the epoch of the last attempt, which may be older than the
// scheduler, and the checkpoint, for those with the key. Without a scheduler it has what is kept.
func TestStatusOfAnAttempt(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ring := ringOf(t, "1")
		epochs, goOn := make(chan uint64), make(chan struct{})
		st := &steps{do: func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
			if task.Attempt() == 1 {
				if err := task.Progress(ctx, 0.5, []byte("kept")); err != nil {
					return "", assign.Permanent(err)
				}
			}
			epochs <- task.Fence().Epoch
			<-goOn
			if task.Attempt() == 1 {
				return "", errors.New("again")
			}
			if err := task.Progress(ctx, 0.9, []byte{}); err != nil {
				return "", assign.Permanent(err)
			}
			epochs <- task.Fence().Epoch
			<-goOn
			return by, nil
		}}
		a := newNode(t, s, "a", nil)
		leader(t, a)
		newNode(t, s, "w", st.register(t, "w"), workerOnly, withCodec(ring))
		c, plain := clientWith(t, s, ring), New(t, s)
		k := assign.NewKind[string, string]("stepwise", assign.Backoff(time.Second, time.Second))
		early, err := assign.Submit(t.Context(), c, k, "x", assign.WithID("early"), assign.WithDelay(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := early.Status(t.Context()); err != nil || got.Epoch != 0 || got.Checkpoint != nil {
			t.Errorf("before the first attempt: %+v, %v", got, err)
		}
		p := submitStepwise(t, c)
		says := func(when string, state assign.State, epoch uint64, checkpoint string) {
			t.Helper()
			got, err := p.Status(t.Context())
			if err != nil || got.State != state || got.Epoch != epoch || string(got.Checkpoint) != checkpoint ||
				(got.Checkpoint == nil) != (checkpoint == "") || got.CheckpointSealed != nil {
				t.Errorf("%s: %+v, %v; want %s at epoch %d with %q", when, got, err, state, epoch, checkpoint)
			}
		}
		first := <-epochs
		says("the first attempt", assign.StateRunning, first, "kept")
		a.link.Cut()
		says("without a scheduler", assign.StatePending, first, "kept")
		z := newNode(t, s, "z", nil)
		leader(t, z)
		natstest.Eventually(t, "the next scheduler has heard of it", 30*time.Second, func() (bool, string) {
			got, err := p.Status(t.Context())
			return err == nil && got.State == assign.StateRunning, z.dump()
		})
		says("the first attempt, under the next scheduler", assign.StateRunning, first, "kept")
		goOn <- struct{}{}
		second := <-epochs
		if second <= first {
			t.Errorf("the epochs of the attempts: %d, %d", first, second)
		}
		says("the second attempt", assign.StateRunning, second, "kept")
		got, err := assign.Get(t.Context(), plain, p.ID())
		if e := got.CheckpointSealed; err != nil || got.Checkpoint != nil || e == nil || e.Key != "1" ||
			e.Part != "checkpoint" {
			t.Errorf("without the key: %+v, %v", got, err)
		}
		goOn <- struct{}{}
		<-epochs
		says("taken back", assign.StateRunning, second, "")
		goOn <- struct{}{}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%v\n%s", err, z.dump())
		}
		says("ended", assign.StateSucceeded, second, "")
		page, err := assign.List(t.Context(), c, assign.ListOptions{States: []assign.State{assign.StateSucceeded}})
		if err != nil || len(page.Tasks) != 1 || page.Tasks[0].Epoch != 0 {
			t.Errorf("listed: %+v, %v", page, err)
		}
		a.link.Heal()
	})
}
