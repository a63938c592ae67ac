//go:build realtime

package electionsim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// patience is how long replicas may take to show what is stored; take gives up soon after.
const patience = 50 * time.Second

// TestStoreConformsOnReplicas: on three replicas, which check conditions before they agree, all the
// same. Records expire by real time here, so none does.
func TestStoreConformsOnReplicas(t *testing.T) {
	nc := natstest.Connect(t, natstest.Cluster(t))
	seen, whole := map[string]int{}, 0
	const long, tries = 80, 15
	wanted := thorough.Pick(2, 5) // the usual program, and drawn ones
	for try := 0; try < tries && whole < wanted; try++ {
		steps := slices.Clone(usual)
		if whole > 0 {
			steps = rapid.SliceOfN(rapid.Custom(drawStep), long, long).Example(try)
		}
		for i := range steps {
			steps[i].ttl = 0
		}
		steps = append(steps, conformStep{do: snapshot})
		err := inStep(&pair{nc: nc, name: fmt.Sprint("b", try), replicas: 3, seen: seen}, steps)
		switch {
		// servers that have no time elect another leader: what was stored by then was compared
		case errors.Is(err, errUncertain):
			t.Logf("try %d was cut short: %v", try, err)
		case err != nil:
			t.Fatal(err)
		default:
			whole++
		}
	}
	t.Log(seen)
	if whole < wanted {
		t.Errorf("%d programs could be compared to their ends, want %d", whole, wanted)
	}
	mustHaveSeen(t, seen, outcomes)
}

// catchUp waits until the watch, whose server may lag, has delivered what the model has.
func (p *pair) catchUp() error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for p.delivered < len(p.model.log) {
		select {
		case u, ok := <-p.watch.C():
			if !ok {
				return uncertain(p.watch.Err())
			}
			if err := p.heardAll(u.Entries); err != nil {
				return err
			}
		case <-late.C:
			return fmt.Errorf("the watch has not delivered %v", p.model.log[p.delivered])
		}
	}
	return nil
}
