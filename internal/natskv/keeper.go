package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// A hub and a leaf node that both have a JetStream, and no domain, are not told apart by the API. A
// program that creates its bucket would make one at each end, and have two leaders. But plain
// subjects cross leaf links. So a process that may create its bucket asks before it does which
// bucket of that name others use, and answers others. No answer means nothing: a permission may be
// missing, or a link may be cut.

// The question may reach a process that has just closed its session, or that is busy. So it is
// asked again while somebody listens. When nobody does, the server says so at once.
const (
	keeperWithin = time.Second
	keeperAsked  = 3
	maxKeeper    = 4 << 10 // bytes of an answer
)

// KeeperSubject is where processes say which bucket of a name they use. It carries no id, because
// the question is for namesakes, too.
func KeeperSubject(bucket string) string { return "$ROLES." + bucket + ".keeper" }

// keeper is the answer.
type keeper struct {
	ID      string    `json:"id"`
	Domain  string    `json:"domain,omitempty"`
	Cluster string    `json:"cluster,omitempty"`
	Created time.Time `json:"created"`
}

func (i Identity) answer() []byte {
	data, err := json.Marshal(keeper(i))
	if err != nil { // a time that is not one
		return nil
	}
	return data
}

// ReadKeeper reads an answer. The zero value means that it is not a valid one.
func ReadKeeper(data []byte) Identity {
	var k keeper
	if len(data) > maxKeeper || json.Unmarshal(data, &k) != nil || k.ID == "" {
		return Identity{}
	}
	return Identity(k)
}

// Keep answers until ctx ends or the subscription does. One of all that use this bucket answers,
// and only when it has just read the bucket: one that was deleted is nobody's. Without the
// permission to subscribe it hears nothing.
func (b *Bucket) Keep(ctx context.Context, nc *nats.Conn) (*nats.Subscription, error) {
	subject, answer := KeeperSubject(b.name), b.identity.answer()
	return nc.QueueSubscribe(subject, b.identity.ID, func(m *nats.Msg) {
		ctx, cancel := context.WithTimeout(ctx, keeperWithin)
		defer cancel()
		if m.Subject == subject && b.Identify(ctx, nc) == nil {
			_ = m.Respond(answer) // no answer means nothing
		}
	})
}

// MayCreate returns a NoDomainError or a NamesakeError if a program that creates the missing bucket
// by itself would make a second one. A person who types the command has decided.
func (c Config) MayCreate(ctx context.Context, nc *nats.Conn) error {
	if !c.Reach.IsZero() {
		return nil
	}
	command := Command(c)
	if err := c.Reach.MayCreate(ctx, nc, fmt.Sprintf("bucket %q", c.Bucket), command); err != nil {
		return err
	}
	found := askKeeper(ctx, nc, c.Bucket)
	if _, err := c.Reach.Open(ctx, nc, c.Bucket); found.ID == "" || !errors.Is(err, ErrBucketNotFound) {
		return nil // somebody may just have created it here
	}
	return &NamesakeError{Bucket: c.Bucket, Found: found, Make: command}
}

// askKeeper asks which bucket of a name others use. The zero value means that nobody has answered.
func askKeeper(ctx context.Context, nc *nats.Conn, bucket string) Identity {
	for range keeperAsked {
		asking, cancel := context.WithTimeout(ctx, keeperWithin)
		m, err := nc.RequestWithContext(asking, KeeperSubject(bucket), nil)
		cancel()
		switch {
		case err == nil:
			return ReadKeeper(m.Data)
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return Identity{}
		}
	}
	return Identity{}
}
