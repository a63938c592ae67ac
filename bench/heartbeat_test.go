//go:build realtime

package bench

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkHeartbeats: what one process that leads writes into the bucket in one heartbeat
// interval.
func BenchmarkHeartbeats(b *testing.B) {
	for _, roles := range []int{1, 1000} {
		b.Run(fmt.Sprint(roles), func(b *testing.B) {
			const intervals = 20
			s := natstest.Server(b)
			p := join(b, s, election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, TTL: time.Second})
			l := newLedger()
			for r := range roles {
				p.campaign(b, fmt.Sprint("role-", r), l)
			}
			l.after(b, "promotions", &l.began, time.Time{}, roles)
			o := natstest.Connect(b, s)
			var writes atomic.Int64
			heartbeat := p.Config().HeartbeatInterval
			settled := make(chan struct{}, 1)
			quiet := time.AfterFunc(2*heartbeat, func() { settled <- struct{}{} })
			if _, err := o.Subscribe("$KV.roles.>", func(m *nats.Msg) {
				if m.Subject != "$KV.roles.c.lease."+p.Instance() {
					quiet.Reset(2 * heartbeat) // the last member record of the start
				}
				writes.Add(1)
			}); err != nil {
				b.Fatal(err)
			}
			receive(b, "the end of the start", settled)
			var seen, passed float64
			for b.Loop() {
				before, began := writes.Load(), time.Now()
				time.Sleep(intervals * heartbeat)
				seen, passed = seen+float64(writes.Load()-before), passed+float64(time.Since(began))/float64(heartbeat)
			}
			b.ReportMetric(seen/passed, "writes/interval")
			b.ReportMetric(0, "ns/op")
		})
	}
}
