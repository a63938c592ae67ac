package client

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// subscriptions is a client's subscriptions to announcements, one for each subject, however many
// callers wait.
type subscriptions struct {
	// mu is held while a subscription is made, so that a caller that joins reads the record after
	// the subscription is in place. While the connection hangs, all callers that join or leave hang
	// too.
	mu   sync.Mutex
	open map[string]*subscription
}

// subscription is one subscription with its users.
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
