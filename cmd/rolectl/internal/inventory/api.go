package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// AskWithin is how long a question may take that a permission may deny silently.
const AskWithin = time.Second

// AskServer sends a request. The server does not answer a denied request, but it reports the denial
// to the connection: after a round trip the report has arrived.
func AskServer(ctx context.Context, nc *nats.Conn, subject string, data []byte) (m *nats.Msg, denied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, AskWithin)
	defer cancel()
	denied, err = ask(ctx, nc, subject, data, func(answers *nats.Subscription) (err error) {
		m, err = answers.NextMsgWithContext(ctx)
		return err
	})
	return m, denied, err
}

// quiet is how long after an answer no other one is expected.
const quiet = 400 * time.Millisecond

// AskServers is AskServer for a request that several servers answer. It returns when no other
// answer comes. The error is that of the first answer.
func AskServers(
	ctx context.Context, nc *nats.Conn, subject string, data []byte,
) (all []*nats.Msg, denied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, AskWithin)
	defer cancel()
	denied, err = ask(ctx, nc, subject, data, func(answers *nats.Subscription) error {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		for err == nil {
			all = append(all, m)
			another, cancel := context.WithTimeout(ctx, quiet)
			m, err = answers.NextMsgWithContext(another)
			cancel()
		}
		return nil
	})
	return all, denied, err
}

// ask sends a request, and has its answers read unless it is denied.
func ask(
	ctx context.Context, nc *nats.Conn, subject string, data []byte, read func(answers *nats.Subscription) error,
) (denied bool, err error) {
	inbox := nc.NewInbox()
	before := nc.LastError()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return false, err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only when the connection is closed
	if err := nc.PublishRequest(subject, inbox, data); err != nil {
		return false, err
	}
	if err := nc.FlushWithContext(ctx); err != nil {
		return false, err
	}
	if nc.LastError() != before && cli.PublishDenied(nc, subject) {
		return true, nil
	}
	return false, read(answers)
}

// AskJetStream asks the JetStream API. Errors: cli.ErrDenied, no answer, or the error in the
// answer.
func AskJetStream(ctx context.Context, nc *nats.Conn, subject string, question, into any) error {
	data, err := json.Marshal(question)
	if err != nil {
		return err
	}
	m, denied, err := AskServer(ctx, nc, subject, data)
	switch {
	case denied:
		return fmt.Errorf("%w: %s", cli.ErrDenied, subject)
	case err != nil:
		return err
	}
	return ReadAnswer(m.Data, into)
}

// ReadAnswer reads an answer of the JetStream API. After an error, into holds nothing of use.
func ReadAnswer(data []byte, into any) error {
	var fault struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &fault); err != nil {
		return fmt.Errorf("read the answer of JetStream: %w", err)
	}
	if fault.Error != nil {
		return fault.Error
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read the answer of JetStream: %w", err)
	}
	return nil
}

// StoredRecord is a record as the JetStream API returns it.
type StoredRecord struct {
	Subject string    `json:"subject"`
	Data    []byte    `json:"data"`
	Time    time.Time `json:"time"`
}

// LastRecord asks for the record at a key of a namespace. Errors: those of AskJetStream.
func LastRecord(ctx context.Context, nc *nats.Conn, reach natskv.Reach, namespace, key string) (StoredRecord, error) {
	stream := TaskStreamPrefix + namespace
	subject := "$KV." + stream + "." + key
	var got messageAnswer
	if err := AskJetStream(ctx, nc, reach.API("STREAM.MSG.GET."+stream),
		map[string]string{"last_by_subj": subject}, &got); err != nil {
		return StoredRecord{}, err
	}
	return got.at(subject)
}

type messageAnswer struct {
	Message StoredRecord `json:"message"`
}

// at returns the record, if it is the one at the requested subject and has a time.
func (a messageAnswer) at(subject string) (StoredRecord, error) {
	if a.Message.Subject != subject || a.Message.Time.IsZero() {
		return StoredRecord{}, fmt.Errorf("the answer about the record at %s is about %q", subject, a.Message.Subject)
	}
	return a.Message, nil
}
