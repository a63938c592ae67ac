package election

import (
	"context"
	"sync"

	"github.com/rolemanager/rolemanager/event"
)

// leaderCalls calls OnLeaderChange, in order, from one goroutine: a slow one delays the others and
// nothing else, and is told the latest only.
type leaderCalls struct {
	s     *Session
	ready chan struct{} // cap 1: somebody is to be told

	mu    sync.Mutex
	queue []*Election // bounded by the roles: each stands in it once
	in    map[*Election]bool
	ended context.Context
}

func newLeaderCalls(s *Session, ended context.Context) *leaderCalls {
	return &leaderCalls{s: s, ended: ended, ready: make(chan struct{}, 1), in: map[*Election]bool{}}
}

func (c *leaderCalls) changed(e *Election) {
	if e.cfg.OnLeaderChange == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in[e] {
		return
	}
	c.in[e] = true
	c.queue = append(c.queue, e)
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// tellLeaders tells the elections whose leader this process was that nobody is known to lead.
func (l *loop) tellLeaders() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for _, e := range l.s.elections {
		if *e.leader.Load() == l.s.cfg.InstanceID {
			l.leaders.changed(e)
		}
	}
}

func (c *leaderCalls) next() *Election {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	e := c.queue[0]
	c.queue = c.queue[1:]
	delete(c.in, e)
	return e
}

func (c *leaderCalls) run() {
	for {
		select {
		case <-c.ended.Done():
			return
		case <-c.ready:
		}
		for e := c.next(); e != nil && c.ended.Err() == nil; e = c.next() {
			leader := e.LeaderID()
			if e.told != nil && *e.told == leader {
				continue
			}
			e.told = &leader
			if value, stack := rescue(func() { e.cfg.OnLeaderChange(leader) }); stack != nil {
				c.s.emit(event.CallbackPanicked{
					Meta: c.s.meta(), Role: e.cfg.Role, Callback: "OnLeaderChange", Value: value, Stack: stack,
				})
			}
		}
	}
}
