package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/election"
)

const (
	networkRole  = "network"
	pingInterval = 250 * time.Millisecond
)

// prober is the work of the network role. Its leader measures the round trip to every member,
// itself included, over the messaging path that the members really use.
type prober struct {
	*ping
	rtt *prometheus.GaugeVec // by member, empty while another process leads
}

func newProber(session *election.Session, registry prometheus.Registerer) (*prober, error) {
	p, err := newPing(session)
	if err != nil {
		return nil, err
	}
	rtt := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "network_rtt_seconds", Help: "Latest round trip from the leader of the network role to a member.",
		ConstLabels: prometheus.Labels{"instance_id": session.Instance()},
	}, []string{"member"})
	return &prober{p, rtt}, registry.Register(rtt)
}

// lead is a Role.Lead.
func (p *prober) lead(ctx context.Context, _ *election.Term) error {
	defer p.rtt.Reset()
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		round := p.measure(ctx)
		p.rtt.Reset()
		for member, d := range round {
			p.rtt.WithLabelValues(member).Set(d.Seconds())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// measure pings the members one after the other, so that no ping waits behind another. A member
// that does not answer is left out.
func (p *prober) measure(ctx context.Context) map[string]time.Duration {
	round := map[string]time.Duration{}
	for _, m := range p.session.Members() {
		conn := p.conn.Load()
		if conn == nil || ctx.Err() != nil {
			break
		}
		once, cancel := context.WithTimeout(ctx, pingInterval)
		began := time.Now()
		_, err := conn.RequestWithContext(once, p.subject(m.Instance), nil)
		cancel()
		if err == nil {
			round[m.Instance] = time.Since(began)
		}
	}
	return round
}

// ping answers the pings of the leader. It is attached to the session: it runs for as long as this
// process has a lease, whether it leads or not.
type ping struct {
	session *election.Session
	conn    atomic.Pointer[nats.Conn] // of the present lease
}

func newPing(session *election.Session) (*ping, error) {
	p := &ping{session: session}
	return p, session.Attach("ping", p.answer)
}

func (p *ping) answer(ctx context.Context, h election.Host) error {
	sub, err := h.Conn().Subscribe(p.subject(h.Instance()), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err != nil {
		return err
	}
	p.conn.Store(h.Conn())
	<-ctx.Done()
	p.conn.Store(nil)
	return sub.Unsubscribe()
}

func (p *ping) subject(instance string) string {
	return "multi-role." + p.session.Bucket() + ".ping." + instance // the instance comes last: it may hold dots
}
