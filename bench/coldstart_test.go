//go:build realtime

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkColdStart: from connecting, where there is no bucket yet, until a session leads all of
// its roles.
func BenchmarkColdStart(b *testing.B) {
	for _, roles := range []int{1, 1_000} {
		b.Run(fmt.Sprint("roles=", roles), func(b *testing.B) {
			const rounds = 20
			s := natstest.Server(b, natstest.Listen)
			var took sample
			for b.Loop() {
				for range rounds {
					bucket, l := fmt.Sprint("roles-", len(took.all)), newLedger()
					began := time.Now()
					p := join(b, s, election.SessionConfig{Bucket: bucket, BucketAutoCreate: true, InstanceID: "a"})
					for r := range roles {
						p.campaign(b, fmt.Sprint("role-", r), l)
					}
					_, last := l.after(b, "promotions", &l.began, began, roles)
					took.add(last.Sub(began))
					if err := p.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			took.report(b, "")
			b.ReportMetric(0, "ns/op")
		})
	}
}
