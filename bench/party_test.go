//go:build realtime

package bench

import (
	"context"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// party is one process: a session on a link of its own.
type party struct {
	*election.Session
	link *natsrun.Link
}

// patience is how long anything may take before a benchmark gives up.
const patience = 2 * time.Minute

// site is a server or a cluster, whose links can be cut.
type site interface {
	natstest.Network
	Link() *natsrun.Link
}

func join(b *testing.B, s site, cfg election.SessionConfig) *party {
	b.Helper()
	link := s.Link()
	nc := natstest.Connect(b, s, append(link.Options(),
		nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectBufSize(-1))...)
	session, err := election.NewSession(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	if err := session.Open(ctx, nc); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = session.Close(context.Background()) }) // what is measured is over
	return &party{session, link}
}

// ledger is when terms of one party began and ended.
type ledger struct {
	mu      sync.Mutex
	began   []time.Time
	ended   []time.Time
	changed chan struct{} // cap 1: look again
}

func newLedger() *ledger { return &ledger{changed: make(chan struct{}, 1)} }

func (l *ledger) add(to *[]time.Time) {
	l.mu.Lock()
	*to = append(*to, time.Now())
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// after waits until there are n entries later than t, and returns the first and the last of those
// n.
func (l *ledger) after(b *testing.B, what string, of *[]time.Time, t time.Time, n int) (first, last time.Time) {
	b.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		all := *of // in the order of time
		if all = all[sort.Search(len(all), func(i int) bool { return all[i].After(t) }):]; len(all) >= n {
			l.mu.Unlock()
			return all[0], all[n-1]
		}
		l.mu.Unlock()
		select {
		case <-l.changed:
		case <-late:
			b.Fatalf("not within %v: %s; %d of %d", patience, what, len(all), n)
		}
	}
}

// campaign takes part in a role with work that does nothing but note when it begins and ends.
func (p *party) campaign(b *testing.B, role string, l *ledger) *election.Election {
	b.Helper()
	e, err := p.Session.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
		l.add(&l.began)
		<-ctx.Done()
		l.add(&l.ended)
		return nil
	}})
	if err != nil {
		b.Fatal(err)
	}
	if err := e.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	return e
}

func receive[T any](b *testing.B, what string, c <-chan T) T {
	b.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		b.Fatalf("not within %v: %s", patience, what)
	}
	panic("not reached")
}
