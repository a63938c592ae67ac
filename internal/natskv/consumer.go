package natskv

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// idleHeartbeat is how often the server sends a heartbeat when there is nothing to deliver, as a
	// rule. The server takes none that is more frequent than the least one. It forgets the consumer
	// of a process that seems gone, so the most is well below that.
	idleHeartbeat  = 2 * time.Second
	leastHeartbeat = 100 * time.Millisecond
	mostHeartbeat  = 5 * time.Second
	// answerTime is how long the answer may take. A server that answers slowly is busy, and a new
	// watch would give it more work.
	answerTime = 30 * time.Second
	// forgotten is how long the server keeps the consumer of a process that is gone.
	forgotten = 10 * time.Second
)

// Headers of messages that the server sends on a delivery subject in addition to deliveries (ADR-15
// of NATS).
const (
	headerLastDelivery = "Nats-Last-Consumer"
	headerStalled      = "Nats-Consumer-Stalled"
)

// consumer is the server's side of a watch.
type consumer struct {
	name    string
	pending uint64 // the number of records to deliver when it was created
}

// consumerRequest is the request of CONSUMER.CREATE.
type consumerRequest struct {
	Stream string                   `json:"stream_name"`
	Config jetstream.ConsumerConfig `json:"config"`
	Action string                   `json:"action"`
}

type consumerAnswer struct {
	jetstream.ConsumerInfo
	Error *jetstream.APIError `json:"error"`
}

func (a *consumerAnswer) fault() *jetstream.APIError { return a.Error }

// createConsumer creates a consumer that delivers the last record of every matching key and then
// every later one, in stream order. It has one replica, in memory, and no acknowledgements. If from
// is set, it begins at that revision.
func createConsumer(ctx context.Context, nc *nats.Conn, at place, deliver, filter string,
	from uint64, every time.Duration,
) (consumer, error) {
	cfg := jetstream.ConsumerConfig{
		Name:              nuid.Next(),
		FilterSubject:     at.prefix + filter,
		DeliverSubject:    deliver,
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		FlowControl:       true,
		IdleHeartbeat:     every,
		InactiveThreshold: forgotten,
		MemoryStorage:     true,
		Replicas:          1,
	}
	if from > 0 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from
	}
	subject := createSubject(at, cfg.Name, filter)
	var a consumerAnswer
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerWithin)
		defer cancel()
	}
	err := requestPatiently(ctx, nc, at, subject, consumerRequest{Stream: at.stream, Config: cfg, Action: "create"}, &a)
	if err != nil {
		return consumer{}, fmt.Errorf("create consumer: %w", err)
	}
	return consumer{name: cfg.Name, pending: a.NumPending}, nil
}

// createSubject is the subject on which a consumer is created. The filter is part of it, so that a
// permission can be given for it.
func createSubject(at place, name, filter string) string {
	return at.api("CONSUMER.CREATE") + "." + name + "." + at.prefix + filter
}

// MayWatch finds out whether this user may watch the keys of a filter, without a watch: the server
// is asked to change a consumer that does not exist, and any answer tells that it may be asked.
// Errors: PermissionError, and those of the connection.
func (b *Bucket) MayWatch(ctx context.Context, nc *nats.Conn, filter string) error {
	at, name := b.place(), nuid.Next()
	ask := consumerRequest{
		Stream: at.stream, Config: jetstream.ConsumerConfig{Name: name, FilterSubject: at.prefix + filter}, Action: "update",
	}
	var a consumerAnswer
	err := request(ctx, nc, at, createSubject(at, name, filter), ask, &a)
	if a.Error != nil {
		return nil
	}
	return err
}

// deleteSubject is the subject on which any message removes the consumer. The writer does not wait
// for the answer, because the server also removes a consumer without listeners.
func (c consumer) deleteSubject(at place) string {
	return at.api("CONSUMER.DELETE") + "." + c.name
}
