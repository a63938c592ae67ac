package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkMassFailover: a process that leads many roles vanishes; how long from the kill of its
// session until another one leads them all.
func BenchmarkMassFailover(b *testing.B) {
	for _, size := range []struct{ roles, rounds int }{{1_000, 10}, {10_000, 5}} {
		b.Run(fmt.Sprint("roles=", size.roles), func(b *testing.B) { massFailover(b, size.roles, size.rounds) })
	}
}

func massFailover(b *testing.B, roles, rounds int) {
	s := natstest.Server(b, natstest.Listen)
	type side struct {
		*party
		terms, kills *ledger
	}
	var sides [2]side
	for i := range sides {
		d := side{terms: newLedger(), kills: newLedger()}
		d.party = join(b, s, election.SessionConfig{
			Bucket: "roles", BucketAutoCreate: true, InstanceID: fmt.Sprint("party-", i), TTL: 2 * time.Second,
			Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
				if _, ok := e.(event.SessionKilled); ok {
					d.kills.add(&d.kills.began)
				}
			})},
		})
		for r := range roles {
			d.campaign(b, fmt.Sprint("role-", r), d.terms)
		}
		sides[i] = d
		if i == 0 {
			d.terms.after(b, "the first promotions", &d.terms.began, time.Time{}, roles)
		}
	}
	// led says how many roles one leads while the other one stands in line for them, as that one
	// sees it: who is back from an outage and has seen nothing yet still shows itself as the
	// leader.
	led := func(from, to side) (n int) {
		for _, r := range to.Roles() {
			if r.Leader == from.Instance() && r.Successor == to.Instance() {
				n++
			}
		}
		return n
	}
	var last, first sample
	late := overshoot()
	for b.Loop() {
		for range rounds {
			from, to := sides[0], sides[1]
			natstest.Eventually(b, "one leads all, the other stands in line", patience, func() (bool, string) {
				n := led(from, to)
				if n < roles {
					from, to = to, from
				}
				return n == roles, fmt.Sprint(n)
			})
			cut := time.Now()
			from.link.Cut()
			begin, end := to.terms.after(b, "promotions", &to.terms.began, cut, roles)
			killed, _ := to.kills.after(b, "the kill", &to.kills.began, cut, 1)
			first.add(begin.Sub(killed))
			last.add(end.Sub(killed))
			from.terms.after(b, "the end of the crashed one's work", &from.terms.ended, cut, roles)
			from.link.Heal()
		}
	}
	first.report(b, "first-")
	last.report(b, "last-")
	b.ReportMetric(ms(late().at(0.99)), "overshoot-p99-ms")
	b.ReportMetric(0, "ns/op")
}
