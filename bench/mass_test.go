//go:build realtime

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkMassFailover: a process that leads many roles vanishes; how long from the kill of its
// session until another one leads them all.
func BenchmarkMassFailover(b *testing.B) {
	for _, size := range []struct{ roles, rounds int }{{1_000, 10}, {10_000, 5}} {
		b.Run(fmt.Sprint("roles=", size.roles), func(b *testing.B) {
			m := newMass(b, natstest.Server(b, natstest.Listen), "roles", size.roles, 1)
			late := overshoot()
			for b.Loop() {
				for range size.rounds {
					m.crash(b)
				}
			}
			m.first.report(b, "first-")
			m.last.report(b, "last-")
			b.ReportMetric(ms(late().at(0.99)), "overshoot-p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkMassFailoverTogether is MassFailover on stores that differ in when they acknowledge a
// write, with claims in batches where that pays, and in turn with those on a bucket that takes no
// batches.
func BenchmarkMassFailoverTogether(b *testing.B) {
	const roles, rounds = 1_000, 10
	for _, store := range []struct {
		name     string
		synced   bool
		replicas int
	}{{"buffered", false, 1}, {"synced", true, 1}, {"replicas3", false, 3}, {"replicas3-synced", true, 3}} {
		b.Run(store.name, func(b *testing.B) {
			var s site
			if store.replicas > 1 {
				s = natstest.Cluster(b, func(o *natsrun.ClusterOptions) { o.SyncAlways = store.synced })
			} else {
				s = natstest.Server(b, natstest.Listen, func(o *natsrun.Options) { o.SyncAlways = store.synced })
			}
			together, alone := newMass(b, s, "together", roles, store.replicas), newMass(b, s, "alone", roles, store.replicas)
			withoutBatches(b, s, "alone")
			late := overshoot()
			for b.Loop() {
				for range rounds {
					together.crash(b)
					alone.crash(b)
				}
			}
			together.last.report(b, "together-")
			alone.last.report(b, "alone-")
			b.ReportMetric(ms(late().at(0.99)), "overshoot-p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// withoutBatches makes a bucket refuse batches.
func withoutBatches(b *testing.B, s site, bucket string) {
	b.Helper()
	js := natstest.JetStream(b, s)
	stream, err := js.Stream(b.Context(), "KV_"+bucket)
	if err != nil {
		b.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.AllowAtomicPublish = false
	if _, err := js.UpdateStream(b.Context(), cfg); err != nil {
		b.Fatal(err)
	}
}

// mass is two processes that are candidates for many roles.
type mass struct {
	sides       [2]massSide
	roles       int
	first, last sample // of the promotions, since the session was killed
}

type massSide struct {
	*party
	terms, kills *ledger
}

func newMass(b *testing.B, s site, bucket string, roles, replicas int) *mass {
	b.Helper()
	m := &mass{roles: roles}
	for i := range m.sides {
		d := massSide{terms: newLedger(), kills: newLedger()}
		d.party = join(b, s, election.SessionConfig{
			Bucket: bucket, BucketAutoCreate: true, Replicas: replicas, InstanceID: fmt.Sprint("party-", i),
			TTL: 2 * time.Second,
			Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
				if _, ok := e.(event.SessionKilled); ok {
					d.kills.add(&d.kills.began)
				}
			})},
		})
		for r := range roles {
			d.campaign(b, fmt.Sprint("role-", r), d.terms)
		}
		m.sides[i] = d
		if i == 0 {
			d.terms.after(b, "the first promotions", &d.terms.began, time.Time{}, roles)
		}
	}
	return m
}

// led says how many roles one leads while the other one stands in line for them, as that one sees
// it: a process that is back from an outage and has seen nothing yet still shows itself as the
// leader.
func (m *mass) led(from, to massSide) (n int) {
	for _, r := range to.Roles() {
		if r.Leader == from.Instance() && r.Successor == to.Instance() {
			n++
		}
	}
	return n
}

// crash cuts the link of the process that leads, and waits until the other one leads all.
func (m *mass) crash(b *testing.B) {
	b.Helper()
	from, to := m.sides[0], m.sides[1]
	natstest.Eventually(b, "one leads all, the other stands in line", patience, func() (bool, string) {
		n := m.led(from, to)
		if n < m.roles {
			from, to = to, from
		}
		return n == m.roles, fmt.Sprint(n)
	})
	cut := time.Now()
	from.link.Cut()
	begin, end := to.terms.after(b, "promotions", &to.terms.began, cut, m.roles)
	killed, _ := to.kills.after(b, "the kill", &to.kills.began, cut, 1)
	m.first.add(begin.Sub(killed))
	m.last.add(end.Sub(killed))
	from.terms.after(b, "the end of the crashed one's work", &from.terms.ended, cut, m.roles)
	from.link.Heal()
}
