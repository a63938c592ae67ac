package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
)

// ttl is that of the sessions. A message that a killed process had in hand is delivered again after
// it, too.
const ttl = 2 * time.Second

type consumer struct{ js jetstream.JetStream }

// lead is the work of one partition: it handles its messages, one after the other, until ctx ends.
// It returns when the one in hand is done, and only then another process may lead the partition.
func (c consumer) lead(ctx context.Context, partition int, t *election.Term) error {
	// From here on, the server refuses what former leaders of this partition write.
	store, err := fencing.OpenStore(ctx, c.js, "accounts-"+t.Role(), t.Token(), fencing.WithCreate(1))
	if err != nil {
		return err
	}
	messages, err := c.messages(ctx, partition, t.Role())
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Drain)()
	finishing, cancel := finish(ctx)
	defer cancel()
	accounts := accounts{store: store, known: map[string]account{}}
	for {
		m, err := messages.Next()
		switch {
		case errors.Is(err, jetstream.ErrMsgIteratorClosed):
			return nil // ctx has ended
		case errors.Is(err, jetstream.ErrNoHeartbeat):
			continue // the connection may come back; if not in time, ctx ends
		case err != nil:
			return err
		case ctx.Err() != nil:
			_ = m.Nak() // it came too late: the next leader is to have it at once
			continue
		}
		if err := accounts.handle(finishing, m); err != nil {
			return fmt.Errorf("%s: %w", m.Subject(), err) // the next term has it again, before any other
		}
		if err := m.DoubleAck(finishing); err != nil {
			return err
		}
	}
}

// messages are those of a partition, in the order of the stream. All leaders of the partition use
// one durable consumer. It has one message in flight, so one that is delivered again comes before
// the next one.
func (c consumer) messages(ctx context.Context, partition int, name string) (jetstream.MessagesContext, error) {
	consumer, err := c.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable:       name,
		FilterSubject: subjects(partition),
		AckPolicy:     jetstream.AckExplicitPolicy,
		MaxAckPending: 1,
		MaxDeliver:    -1, // a limit would have the server pass over a message
		AckWait:       ttl,
	})
	if err != nil {
		return nil, err
	}
	return consumer.Messages(jetstream.PullMaxMessages(1))
}

// finish is a context for the message in hand. A hand-over waits for it, a TTL at most. A session
// that is lost waits for nothing: another process leads soon.
func finish(ctx context.Context) (context.Context, context.CancelFunc) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer cancel()
		if !errors.Is(context.Cause(ctx), election.ErrSessionLost) {
			select {
			case <-time.After(ttl):
			case <-finishing.Done():
			}
		}
	})
	return finishing, cancel
}
