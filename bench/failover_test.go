//go:build realtime

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) {
	leadForParent()
	workForParent()
	natstest.Main(m)
}

// lane is two processes that are candidates for one role in a bucket of their own.
type lane struct {
	parties   [2]*party
	elections [2]*election.Election
	ledgers   [2]*ledger
}

func newLane(b *testing.B, s *natsrun.Server, bucket string, cfg election.SessionConfig) *lane {
	b.Helper()
	l := &lane{}
	for i := range 2 {
		cfg.Bucket, cfg.BucketAutoCreate, cfg.InstanceID = bucket, true, fmt.Sprint("party-", i)
		l.parties[i], l.ledgers[i] = join(b, s, cfg), newLedger()
		l.elections[i] = l.parties[i].campaign(b, "role", l.ledgers[i])
	}
	return l
}

// sides waits until one of the two leads and the other one stands in line.
func (l *lane) sides(b *testing.B) (from, to int) {
	b.Helper()
	natstest.Eventually(b, "one leads, the other stands in line", patience, func() (bool, string) {
		for from = range 2 {
			to = 1 - from
			if st := l.elections[from].Status(); st.IsLeader && st.Successor == l.parties[to].Instance() {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%+v, %+v", l.elections[0].Status(), l.elections[1].Status())
	})
	return from, to
}

// crash drops the leader's link, at any moment of its heartbeat, and returns how long nobody was
// promoted.
func (l *lane) crash(b *testing.B) time.Duration {
	from, to := l.sides(b)
	time.Sleep(rand.N(200 * time.Millisecond)) // the phase, not a wait
	cut := time.Now()
	l.parties[from].link.Cut()
	at, _ := l.ledgers[to].after(b, "promotion after a crash", &l.ledgers[to].began, cut, 1)
	l.ledgers[from].after(b, "end of the crashed one's work", &l.ledgers[from].ended, cut, 1)
	l.parties[from].link.Heal()
	return at.Sub(cut)
}

// BenchmarkCrash: the leader's link is dropped; how long until another process is promoted, at a
// TTL of one second.
func BenchmarkCrash(b *testing.B) {
	const lanes, rounds = 8, 13
	s := natstest.Server(b, natstest.Listen)
	all := make([]*lane, lanes)
	for i := range all {
		all[i] = newLane(b, s, fmt.Sprint("lane-", i), election.SessionConfig{TTL: time.Second})
	}
	var took sample
	late := overshoot()
	for b.Loop() {
		var running sync.WaitGroup
		for _, l := range all {
			running.Go(func() {
				for range rounds {
					took.add(l.crash(b))
				}
			})
		}
		running.Wait()
	}
	took.report(b, "")
	b.ReportMetric(ms(late().at(0.99)), "overshoot-p99-ms")
	b.ReportMetric(float64(len(took.all)), "crashes")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHandover: the leader gives the role up; how long from the return of its work until
// another one is promoted.
func BenchmarkHandover(b *testing.B) {
	ways := map[string]func(ctx context.Context, l *lane, from, to int) error{
		"StepDown": func(ctx context.Context, l *lane, from, _ int) error { return l.elections[from].StepDown(ctx) },
		"Transfer": func(ctx context.Context, l *lane, from, to int) error {
			return l.elections[from].Transfer(ctx, l.parties[to].Instance())
		},
		"Stop": func(_ context.Context, l *lane, from, _ int) error { return l.elections[from].Stop() },
	}
	for name, giveUp := range ways {
		b.Run(name, func(b *testing.B) {
			const rounds = 200
			l := newLane(b, natstest.Server(b, natstest.Listen), "roles", election.SessionConfig{
				TTL: 5 * time.Second, CoolDown: time.Millisecond,
			})
			var took sample
			for b.Loop() {
				for range rounds {
					from, to := l.sides(b)
					began := time.Now()
					if err := giveUp(b.Context(), l, from, to); err != nil {
						b.Fatal(err)
					}
					drained, _ := l.ledgers[from].after(b, "the drain", &l.ledgers[from].ended, began, 1)
					promoted, _ := l.ledgers[to].after(b, "promotion", &l.ledgers[to].began, began, 1)
					took.add(promoted.Sub(drained))
					if name == "Stop" { // takes part again
						l.elections[from] = l.parties[from].campaign(b, "role", l.ledgers[from])
					}
				}
			}
			took.report(b, "")
			b.ReportMetric(0, "ns/op")
		})
	}
}
