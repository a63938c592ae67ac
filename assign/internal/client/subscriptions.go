package client

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// subscriptions is a client's subscriptions to what is announced, one for each subject, however many wait.
type subscriptions struct {
	// mu is held while one is made: whoever joins reads after it stands. While the connection hangs so do all who come and go.
	mu   sync.Mutex
	open map[string]*subscription
}

// subscription is one of them.
type subscription struct {
	sub   *nats.Subscription
	users int
}

// listen hears what is announced to one audience or to another until leave is called.
func (c *Client) listen(audiences ...string) (leave func(), err error) {
	l := &c.subscriptions
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, to := range audiences {
		if err := l.join(c, to); err != nil {
			l.part(audiences[:i])
			return nil, err
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.part(audiences)
	}, nil
}

func (l *subscriptions) join(c *Client, to string) error {
	e := l.open[to]
	if e == nil {
		sub, err := c.nc.Subscribe(c.sub.Done(to), c.heard)
		if err != nil {
			return err
		}
		e = &subscription{sub: sub}
		l.open[to] = e
	}
	e.users++
	return nil
}

func (l *subscriptions) part(audiences []string) {
	for _, to := range audiences {
		e := l.open[to]
		if e.users--; e.users == 0 {
			delete(l.open, to)
			_ = e.sub.Unsubscribe() // fails only when the connection is closed
		}
	}
}

// heard takes what a scheduler announces. Of a task only what comes where it is announced is believed.
func (c *Client) heard(m *nats.Msg) {
	to := m.Subject[len(c.sub.Done("")):]
	for task, announcement := range record.Entries(m.Data) {
		if to == task || to == record.Audience(task) {
			c.waiters.announce(task, announcement)
		}
	}
}
