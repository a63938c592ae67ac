package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// group is processes that contend over one store.
type group struct {
	*ledger
	peer    elect.Peer
	ttl     time.Duration
	synced  bool
	store   stores.Store
	members map[string]*member
	started int
}

// member is one process, with a link of its own to the store.
type member struct {
	*proc.Child
	name string
	link *natsrun.Proxy
	pid  int // of the candidate, if the child is its guard; 0 otherwise
}

func newGroup(ctx context.Context, p elect.Peer, ttl time.Duration, synced bool) (*group, error) {
	s, err := stores.Start(p.Store, synced)
	if err != nil {
		return nil, err
	}
	if p.Prepare != nil {
		if err := p.Prepare(ctx, s.Addr(), ttl); err != nil {
			s.Close()
			return nil, err
		}
	}
	return &group{ledger: newLedger(), peer: p, ttl: ttl, synced: synced, store: s, members: map[string]*member{}}, nil
}

// manner is how a process contends.
type manner struct {
	instances int // 1 unless said otherwise, each with a connection of its own
	drain     time.Duration
	watch     bool
	guard     bool // under a guard, which ends with it
	direct    bool // without a link: the traffic of thousands of roles is not slowed down by it
}

// join starts a process. Its instances are called after it.
func (g *group) join(ctx context.Context, m manner) (*member, error) {
	g.started++
	x := &member{name: fmt.Sprint("p", g.started)}
	at := g.store.Addr()
	if !m.direct {
		link, err := natsrun.NewProxy(at)
		if err != nil {
			return nil, err
		}
		x.link, at = link, link.Addr()
	}
	c := elect.Process{Peer: g.peer.Name, Addr: at, TTL: g.ttl, Drain: m.drain, Watch: m.watch}
	for i := range max(m.instances, 1) {
		c.Instances = append(c.Instances, instance(x.name, i))
	}
	kind := elect.Kind
	if m.guard && !g.peer.Locks {
		kind = elect.GuardedKind
	}
	child, err := proc.Start(kind, c, g.hear(x.name))
	if err != nil {
		if x.link != nil {
			x.link.Close()
		}
		return nil, err
	}
	x.Child = child
	g.members[x.name] = x
	if m.guard && !g.peer.Locks {
		return x, x.Call(ctx, "pid", nil, &x.pid)
	}
	return x, nil
}

func instance(process string, n int) string { return fmt.Sprintf("%s-%d", process, n) }

// stand lets a process contend for the roles from ≤ n < to.
func (x *member) stand(ctx context.Context, from, to int) error {
	return x.Call(ctx, "stand", elect.Stand{From: from, To: to}, nil)
}

// kill ends a process as a crash does.
func (g *group) kill(x *member) (at int64) {
	if g.peer.Locks {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = x.Call(ctx, "leader", nil, &x.pid) // 0 if it has ended
	}
	if x.pid != 0 {
		at = x.Crash(x.pid)
	} else {
		at = x.Kill()
	}
	g.forget(x)
	return at
}

func (g *group) forget(x *member) {
	if x.link != nil {
		x.link.Close()
	}
	delete(g.members, x.name)
}

// leader is the member whose work on a role has begun last, and which instance of it that is.
func (g *group) leader(ctx context.Context, role string) (*member, string, error) {
	limit := 5*g.ttl + g.settled() + 5*time.Second
	if _, err := g.await(ctx, "a leader", limit, 1,
		func(m moment) bool { return m.what == elect.Began && m.of == role }); err != nil {
		return nil, "", err
	}
	m, _ := g.last(func(m moment) bool { return m.what == elect.Began && m.of == role })
	for _, x := range g.members {
		if len(m.who) > len(x.name) && m.who[:len(x.name)+1] == x.name+"-" {
			return x, m.who, nil
		}
	}
	return nil, "", fmt.Errorf("%s began last, and is gone", m.who)
}

func (g *group) settled() time.Duration { return g.peer.Settled(g.ttl) }

// successor waits until an instance other than old begins to work on a role after a time.
func (g *group) successor(ctx context.Context, role, old string, after int64, limit time.Duration) (moment, error) {
	all, err := g.await(ctx, "a successor of "+old, limit, 1, func(m moment) bool {
		return m.what == elect.Began && m.of == role && m.who != old && m.at > after
	})
	if err != nil {
		return moment{}, err
	}
	return all[0], nil
}

// row is a sample of this group.
func (g *group) row(job string, n int, figure string, v float64) figures.Row {
	return figures.Row{
		Job: named(job, g.synced), Peer: g.peer.Name, Mode: "TTL " + g.ttl.String(), N: n, Figure: figure,
		Value: v,
	}
}

// named is what a job is called in the rows: those on synced stores have names of their own.
func named(job string, synced bool) string {
	if synced {
		job += "-synced"
	}
	return job
}

// overdue notes what did not happen in time.
func (g *group) overdue(r *Run, job string, n int, late *overdueError) {
	row := g.row(job, n, "overdue-s", late.limit.Seconds())
	row.Note = late.Error()
	r.add(row)
}

// ttls are those at which a peer is looked at: the one that all take, and, of those that take it,
// one second.
func ttls(p elect.Peer) []time.Duration {
	if p.Short {
		return []time.Duration{TTL, time.Second}
	}
	return []time.Duration{TTL}
}

// close ends everything.
func (g *group) close() {
	for _, x := range g.members {
		x.Kill()
		g.forget(x)
	}
	g.store.Close()
}

// pause waits while nothing is done.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
