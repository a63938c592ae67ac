package deploys

import (
	"flag"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var (
	hours = flag.Int("deploys.hours", 0,
		"how many virtual hours are played, each of which begins with a deploy; 0: three, where long tests are played")
	seed = flag.Uint64("deploys.seed", 1, "what is drawn")
)

func TestMain(m *testing.M) { natstest.Main(m) }

// TestDeploysEveryHour: see the package.
func TestDeploysEveryHour(t *testing.T) {
	hours := *hours
	if hours == 0 { // nobody says how many
		thorough.Only(t, "it plays hours of deploys")
		hours = 3
	}
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w, began := newFleet(t, s, *seed), time.Now()
		w.play(hours)
		t.Logf("seed %d: %v", *seed, w.counts)
		t.Logf("%+v", struct{ Hours, Seconds, Faults, Terms int }{
			hours, int(time.Since(began).Seconds()), w.counts["crashes"] + w.counts["deploys"], w.counts["terms"],
		})
		for _, what := range []string{
			"terms", "tasks", "dead", "ticks", "groups", "chains", "interrupted", "at the limit", "rejected/undecodable",
		} {
			if w.counts[what] == 0 {
				t.Errorf("no %s: that proves little", what)
			}
		}
		if least := hours*60 - 10; w.counts["ticks"] < least {
			t.Errorf("%d ticks, want %d at least", w.counts["ticks"], least)
		}
	})
}
