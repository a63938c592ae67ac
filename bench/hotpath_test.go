//go:build realtime

package bench

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkIsLeader: what it costs to ask before each step of the work, against the one reading of
// the clock that is in it. Both are measured in turns, so that what else the machine does meets
// both.
func BenchmarkIsLeader(b *testing.B) {
	p := join(b, natstest.Server(b), election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true,
		TTL: 10 * time.Second,
	})
	l := newLedger()
	e := p.campaign(b, "role", l)
	l.after(b, "promotion", &l.began, time.Time{}, 1)
	c := clock.System()
	const turn = 2000
	var asked, read time.Duration
	turns := 0
	var sink clock.Instant
	for b.Loop() {
		began := time.Now()
		for range turn {
			if !e.IsLeader() {
				b.Fatal("does not lead")
			}
		}
		between := time.Now()
		for range turn {
			sink = max(sink, c.Holder())
		}
		asked, read, turns = asked+between.Sub(began), read+time.Since(between), turns+1
	}
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(turns*turn) }
	b.ReportMetric(per(asked), "ns/IsLeader")
	b.ReportMetric(per(read), "ns/clock")
	b.ReportMetric(per(asked)/per(read), "ratio")
	b.ReportMetric(testing.AllocsPerRun(turn, func() { e.IsLeader() }), "allocs/IsLeader")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGuardAdmit: the resource's side, for the token that it has admitted before.
func BenchmarkGuardAdmit(b *testing.B) {
	var guard fencing.Guard
	token := fencing.NewToken("role", "party", 1_700_000_000_000_000, 0, uuid.New())
	b.ReportAllocs()
	for b.Loop() {
		if err := guard.Admit(token); err != nil {
			b.Fatal(err)
		}
	}
}
