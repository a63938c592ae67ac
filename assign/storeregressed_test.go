package assign_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestASealAboveTheBucket: the stream of tasks has outlived a bucket that was restored to an
// earlier state. Nobody hands out, because epochs would be given twice. The error names the fix,
// which works.
func TestASealAboveTheBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		seals := func(n *node) {
			t.Helper()
			natstest.Eventually(t, n.name+" seals", 10*time.Minute, func() (bool, string) {
				r := record(t, n.nc, "seal")
				return r != nil && strings.Contains(string(r.Data), `"holder":"`+n.name+`"`), n.dump()
			})
		}
		nc := natstest.Connect(t, s)
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles", MaxTTL: testTTL}); err != nil {
			t.Fatal(err)
		}
		first := newNode(t, s, "a", nil)
		leader(t, first) // the stream is there when it leads
		seals(first)
		first.close(t)
		state, err := natskv.Inspect(t.Context(), nc, "roles")
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		given := state.LastSeq + uint64(time.Hour.Microseconds()) // lost with the bucket's last hour
		seal := fmt.Sprintf(`{"v":1,"epoch":%d,"holder":"z","mark":"x"}`, given)
		if _, err := js.Publish(t.Context(), stored+"seal", []byte(seal)); err != nil {
			t.Fatal(err)
		}
		refused := func(n *node) int {
			return n.count(func(e event.Event) bool {
				w, ok := e.(event.WorkReturned)
				return ok && errors.Is(w.Err, election.ErrStoreRegressed) &&
					strings.Contains(w.Err.Error(), `"rolectl bucket adopt roles"`)
			})
		}
		second := newNode(t, s, "b", nil)
		natstest.Eventually(t, "it refuses", time.Minute, func() (bool, string) { return refused(second) > 0, second.dump() })
		second.close(t)
		if _, err := adoption.Run(t.Context(), adoption.Config{Conn: nc, Bucket: "roles"}); err != nil {
			t.Fatal(err)
		}
		third := newNode(t, s, "c", nil)
		seals(third)
		if refused(third) > 0 {
			t.Error("it was refused after the adoption")
		}
	})
}
