//go:build realtime

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkClaim: a session that leads something takes part in one more role, which nobody has ever
// held, until its work begins.
func BenchmarkClaim(b *testing.B) {
	const rounds = 1_000
	s := natstest.Server(b, natstest.Listen)
	p := join(b, s, election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a"})
	l := newLedger()
	from := time.Now()
	p.campaign(b, "held", l) // a holder of a role beats often, so that no claim waits for that
	l.after(b, "the first promotion", &l.began, from, 1)
	var took sample
	for b.Loop() {
		for range rounds {
			began := make(chan time.Time, 1) // one term each
			e, err := p.Campaign(election.RoleConfig{
				Role: fmt.Sprint("role-", len(took.all)),
				Lead: func(ctx context.Context, _ *election.Term) error {
					began <- time.Now()
					<-ctx.Done()
					return nil
				},
			})
			if err != nil {
				b.Fatal(err)
			}
			from := time.Now()
			if err := e.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			took.add(receive(b, "the work begins", began).Sub(from))
			if err := e.Stop(); err != nil {
				b.Fatal(err)
			}
		}
	}
	took.report(b, "")
	b.ReportMetric(0, "ns/op")
}
