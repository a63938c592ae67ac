package main

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/election"
)

const (
	networkRole = "network"
	pingPace    = 250 * time.Millisecond
)

// prober is the work of the network role: its leader measures the round trip to every member, itself included, over the
// messaging path that the members really use.
type prober struct {
	answerer
	gauge *prometheus.GaugeVec

	mu  sync.Mutex
	rtt map[string]time.Duration // by member, nil while not leading
}

// answerer is a member's part in it, whoever leads.
type answerer struct {
	session *election.Session
	conn    atomic.Pointer[nats.Conn] // of the present lease
}

func newProber(reg prometheus.Registerer) (*prober, error) {
	p := &prober{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "network_rtt_seconds", Help: "Latest round trip from the leader of the network role to a member.",
	}, []string{"member"})}
	return p, reg.Register(p.gauge)
}

func (a *answerer) subject(instance string) string {
	return "multi-role." + a.session.Bucket() + ".ping." + instance // the instance comes last: it may hold dots
}

// answer is attached to the session: for as long as this process has a lease it answers pings.
func (a *answerer) answer(ctx context.Context, h election.Host) error {
	sub, err := h.Conn().Subscribe(a.subject(h.Instance()), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err != nil {
		return err
	}
	a.conn.Store(h.Conn())
	<-ctx.Done()
	a.conn.Store(nil)
	return sub.Unsubscribe()
}

// lead is a Role.Lead.
func (p *prober) lead(ctx context.Context, _ *election.Term) error {
	defer p.publish(nil)
	tick := time.NewTicker(pingPace)
	defer tick.Stop()
	for {
		p.publish(p.measure(ctx))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// measure pings the members one after the other, so that no ping waits behind another. Who does not answer is left out.
func (p *prober) measure(ctx context.Context) map[string]time.Duration {
	round := map[string]time.Duration{}
	for _, m := range p.session.Members() {
		conn := p.conn.Load()
		if conn == nil || ctx.Err() != nil {
			break
		}
		once, cancel := context.WithTimeout(ctx, pingPace)
		began := time.Now()
		_, err := conn.RequestWithContext(once, p.subject(m.Instance), nil)
		cancel()
		if err == nil {
			round[m.Instance] = time.Since(began)
		} else if errors.Is(err, nats.ErrConnectionClosed) {
			break
		}
	}
	return round
}

func (p *prober) publish(round map[string]time.Duration) {
	p.gauge.Reset()
	for member, d := range round {
		p.gauge.WithLabelValues(member).Set(d.Seconds())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rtt = round
}

// latest is the latest round, nil while this process does not lead.
func (p *prober) latest() map[string]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.rtt)
}
