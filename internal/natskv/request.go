package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// answerWithin bounds one question to the JetStream API when the caller's context leaves more time.
// In a cluster without a leader nobody answers; the caller asks again.
const answerWithin = 5 * time.Second

// askAgainAfter is how long to wait before a question is asked again. A cluster drops questions
// about a stream that is being created or has no leader, and answers a later one.
const askAgainAfter = 500 * time.Millisecond

// maxAnswers is how many answers may wait to be read: one for each time that a question is asked.
// Only the first is read.
const maxAnswers = int(answerWithin/askAgainAfter) + 1

// answer is an answer of the JetStream API.
type answer interface{ fault() *jetstream.APIError }

// request sends one request to the JetStream API. ask is sent as JSON; nothing is sent when it is
// nil. Errors: PermissionError, ErrJetStreamOff, NotFoundError, *jetstream.APIError, or the
// context's error with the subject that got no answer.
func request(ctx context.Context, nc *nats.Conn, at place, subject string, ask any, into answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return requestPatiently(ctx, nc, at, subject, ask, into)
}

// requestPatiently is request without a bound other than ctx, which must end at some time. It is
// for requests that cost the server so much that asking twice would delay the answer.
func requestPatiently(ctx context.Context, nc *nats.Conn, at place, subject string, ask any, into answer) error {
	var body []byte
	if ask != nil {
		var err error
		if body, err = json.Marshal(ask); err != nil {
			return fmt.Errorf("encode request to %s: %w", subject, err)
		}
	}
	msg, err := exchange(ctx, nc, at.reach, subject, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(msg.Data, into); err != nil {
		return fmt.Errorf("decode answer to %s: %w", subject, err)
	}
	if e := into.fault(); e != nil {
		return fromAPI(at, e)
	}
	return nil
}

// exchange sends a request, and waits for the reply or for the server's complaint that the request
// was denied. The flush brings the complaint, because the server answers it after everything that
// was sent before. A mere question, one without a body, is asked again while there is no answer.
func exchange(ctx context.Context, nc *nats.Conn, reach Reach, subject string, body []byte) (*nats.Msg, error) {
	if body == nil {
		return repeat(ctx, nc, reach, subject, body, askAgainAfter)
	}
	return repeat(ctx, nc, reach, subject, body, math.MaxInt64)
}

// repeat is an exchange that asks again after every wait without an answer.
//
// The answers go to a channel of this package: the channel that nats.go makes for SubscribeSync
// takes half a megabyte.
func repeat(
	ctx context.Context, nc *nats.Conn, reach Reach, subject string, body []byte, wait time.Duration,
) (*nats.Msg, error) {
	inbox := nc.NewInbox()
	before := nc.LastError()
	answers := make(chan *nats.Msg, maxAnswers)
	sub, err := nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, fmt.Errorf("subscribe to the answer of %s: %w", subject, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	open, end := context.WithCancel(ctx)     // ends with the subscription, whose end the channel does not report
	defer end()
	sub.SetClosedHandler(func(string) { end() })
	for {
		if err := nc.PublishRequest(subject, inbox, body); err != nil {
			return nil, unsent(nc, subject, err)
		}
		if err := nc.FlushWithContext(ctx); err != nil {
			return nil, fmt.Errorf("ask %s: %w", subject, lost(nc, err))
		}
		if err := nc.LastError(); err != before {
			if denied := deniedIn(err); denied != nil && (reach.Concerns(denied, subject) || denied.Subject == inbox) {
				return nil, denied
			}
		}
		patience := time.NewTimer(wait)
		select {
		case msg := <-answers:
			patience.Stop()
			if IsNoResponders(msg) {
				return nil, &silentAPI{subject: subject}
			}
			return msg, nil
		case <-open.Done():
			patience.Stop()
			err := ctx.Err()
			if err == nil {
				err = lost(nc, nats.ErrConnectionClosed)
			}
			return nil, fmt.Errorf("no answer from %s: %w", subject, err)
		case <-patience.C:
		}
	}
}

// notConnected reports that the connection is down, with the error of the last attempt to connect.
func notConnected(nc *nats.Conn) error {
	servers := nc.Servers() // in the order in which the client tries them next
	slices.Sort(servers)
	return &NotConnectedError{servers, nc.LastError()}
}

// unsent reports why nothing was sent to a subject. Without a connection, a message that cannot be
// kept for later is refused.
func unsent(nc *nats.Conn, subject string, err error) error {
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return notConnected(nc)
	}
	return fmt.Errorf("publish to %s: %w", subject, lost(nc, err))
}

// lost corrects the error that nats.go returns for a flush that a reconnect has interrupted: "the
// connection is closed". A connection is closed for good only when the connection itself reports
// that.
func lost(nc *nats.Conn, err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) && !nc.IsClosed() {
		return nats.ErrDisconnected
	}
	return err
}

// silentAPI means that nobody listens to the JetStream API. Where JetStream is off, this is
// permanent. But a server that is shutting down stops listening seconds before it drops its
// clients, and a server that only relays into its cluster may have lost sight of the others. The
// error is therefore not permanent.
type silentAPI struct{ subject string }

func (e *silentAPI) Error() string {
	return "JetStream does not answer: enable it on the server (nats-server -js) and for the account; " +
		"or set the domain that has it, if this is a leaf node; " +
		"or its servers cannot be reached just now (no reply to " + e.subject + ")"
}

func (e *silentAPI) Is(target error) bool {
	return target == ErrJetStreamOff || target == nats.ErrNoResponders
}
