package assign

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// listening is a client's subscriptions to what is announced, one for each audience, however many wait.
type listening struct {
	mu   sync.Mutex // held while one is made: whoever joins reads after it stands
	open map[string]*ear
}

// ear is one of them.
type ear struct {
	sub   *nats.Subscription
	users int
}

// listen hears what is announced to an audience until leave is called.
func (c *Client) listen(audience string) (leave func(), err error) {
	l := &c.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.open[audience]
	if e == nil {
		sub, err := c.nc.Subscribe(c.sub.done(audience), c.heard)
		if err != nil {
			return nil, err
		}
		e = &ear{sub: sub}
		l.open[audience] = e
	}
	e.users++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.users--; e.users == 0 {
			delete(l.open, audience)
			_ = e.sub.Unsubscribe() // fails only when the connection is closed
		}
	}, nil
}

// heard takes what a scheduler announces: outcomes, or that there is one to read. Most of what another client's tasks come to
// may be of interest to nobody here.
func (c *Client) heard(m *nats.Msg) {
	for task, announcement := range entries(m.Data) {
		if !c.waiters.listen(task) {
			continue
		}
		o, err := decodeAnnouncement(announcement)
		if err != nil {
			o = nil // who waits reads it, and says what is wrong
		}
		c.waiters.announce(task, o)
	}
}
