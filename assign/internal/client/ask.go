package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	askWithin = 2 * time.Second
	askAgain  = 500 * time.Millisecond // the question may have reached no leader, or a former one
)

// ask asks the scheduler, again and again for a while, because a question between two schedulers
// reaches nobody. Errors: taskerr.ErrNoScheduler, the connection's, ctx's.
func (c *Client) ask(ctx context.Context, q control.Query) (control.Answer, error) {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	data, err := json.Marshal(q)
	if err != nil {
		return control.Answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	if len(data) > control.MaxQuery {
		return control.Answer{}, fmt.Errorf("assign: ask the scheduler: a question of %d bytes: use a shorter filter",
			len(data))
	}
	m, err := c.put(within, data)
	switch {
	case ctx.Err() != nil:
		return control.Answer{}, ctx.Err()
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		if l := c.line.Load(); l != nil {
			if other := c.same(ctx, l); other != nil {
				return control.Answer{}, other
			}
		}
		return control.Answer{}, fmt.Errorf("%w (%v)", taskerr.ErrNoScheduler, err)
	case err != nil:
		return control.Answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	a, err := control.ReadAnswer(m.Data)
	if err == nil && len(a.Tasks) > q.Limit {
		err = fmt.Errorf("%w: of %d tasks, where %d were asked for", control.ErrCrowded, len(a.Tasks), q.Limit)
	}
	switch {
	case errors.Is(err, control.ErrCrowded):
		return control.Answer{}, nonsense(err)
	case err != nil:
		return control.Answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	return a, nil
}

// nonsense is the error for an answer that no scheduler gives. Somebody else may publish there,
// where only schedulers should.
func nonsense(err error) error {
	return fmt.Errorf("%w: its answer makes no sense: %w", taskerr.ErrNoScheduler, err)
}

// put sends a question and returns the first answer. The answer goes to a channel that this method
// makes, because the one that nats.go makes for SubscribeSync takes half a megabyte.
func (c *Client) put(ctx context.Context, question []byte) (*nats.Msg, error) {
	inbox := c.nc.NewInbox()
	first := make(chan *nats.Msg, 1)
	answers, err := c.nc.Subscribe(inbox, func(m *nats.Msg) {
		select {
		case first <- m:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only when the connection is closed
	gone := make(chan struct{})                  // closed with the subscription, which no message reports
	answers.SetClosedHandler(func(string) { close(gone) })
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for {
		if err := c.nc.PublishRequest(c.sub.Ctl(), inbox, question); err != nil {
			return nil, err
		}
		select {
		case m := <-first:
			if natskv.IsNoResponders(m) {
				return nil, nats.ErrNoResponders
			}
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-gone:
			return nil, nats.ErrConnectionClosed
		case <-again.C:
		}
	}
}

// Overview asks the scheduler for its state in numbers.
func (c *Client) Overview(ctx context.Context) (*control.Overview, error) {
	if _, err := c.opened(ctx); err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, control.Query{Op: control.OpOverview})
	if err != nil {
		return nil, c.offline(err)
	}
	if !a.OK || a.Overview == nil {
		return nil, refusal(a)
	}
	return a.Overview, nil
}

// refusal is the error for an answer of the scheduler that refuses the question.
func refusal(a control.Answer) error {
	return fmt.Errorf("%w: it says %q", taskerr.ErrNoScheduler, a.Error)
}
