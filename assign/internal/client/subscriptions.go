package client

import (
	"sync"

	"github.com/nats-io/nats.go"
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

// join adds a user to the subscription of an audience, which subscribe makes for the first one.
func (l *subscriptions) join(to string, subscribe func() (*nats.Subscription, error)) error {
	e := l.open[to]
	if e == nil {
		sub, err := subscribe()
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
