package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// AwaitLeader waits until the leader of the stream answers, for at most the time that one answer
// may take. It asks for a record that does not exist, which needs the same permission as Get.
//
// While a new stream on replicas elects its first leader, the future leader answers STREAM.INFO
// already, and every replica answers a second creator. But a request that only a leader may answer,
// such as STREAM.MSG.GET, is dropped without an answer by all of them (nats-server 2.15), even when
// they can name the leader and it is about to begin. A caller that asks such a request once, as
// nats.go does, waits until its context ends.
func (s *Stream) AwaitLeader(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	ask, err := json.Marshal(map[string]any{"last_by_subj": s.at.prefix + "none"})
	if err != nil {
		return fmt.Errorf("ask the leader of %s: %w", s.at, err)
	}
	_, err = again(ctx, func() (Entry, error) {
		m, err := repeat(ctx, nc, s.at.reach, s.at.api("STREAM.MSG.GET"), ask, askAgainAfter)
		if err != nil {
			return Entry{}, backoff.Permanent(err)
		}
		e, err := s.at.record(m.Data)
		switch {
		case errors.Is(err, ErrRecordNotFound):
			return e, nil
		// a server that does not know the stream yet may have answered
		case err != nil && !errors.Is(err, ErrBucketNotFound) && !unavailable(err):
			return e, backoff.Permanent(err)
		}
		return e, err
	})
	if err != nil {
		return fmt.Errorf("ask the leader of %s: %w", s.at, err)
	}
	return nil
}

// unavailable reports whether the server's error means that it cannot answer now.
func unavailable(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.Code >= 500
}
