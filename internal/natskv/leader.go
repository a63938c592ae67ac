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

// AwaitLeader waits until the leader of the stream answers, for as long as one answer may take. It asks for a record that is not
// there, with Get's permission.
//
// While a new stream on replicas elects its first leader, the server that is to be it answers STREAM.INFO already, and every
// replica a second creator. But what only a leader may answer, such as STREAM.MSG.GET, all of them drop without a word (nats-server
// 2.15), also when they can name the leader and it is about to begin. Who asks that once, as nats.go does, waits until his context
// ends.
func (s *Stream) AwaitLeader(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	ask, err := json.Marshal(map[string]any{"last_by_subj": s.at.prefix + "none"})
	if err != nil {
		return fmt.Errorf("ask the leader of %s: %w", s.at, err)
	}
	_, err = again(ctx, func() (Entry, error) {
		m, err := repeat(ctx, nc, "$JS.API.STREAM.MSG.GET."+s.at.stream, ask, askAgainAfter)
		if err != nil {
			return Entry{}, backoff.Permanent(err)
		}
		e, err := s.at.record(m.Data)
		switch {
		case errors.Is(err, ErrRecordNotFound):
			return e, nil
		case err != nil && !errors.Is(err, ErrBucketNotFound) && !unavailable(err): // the answer may come from where it is not known yet
			return e, backoff.Permanent(err)
		}
		return e, err
	})
	if err != nil {
		return fmt.Errorf("ask the leader of %s: %w", s.at, err)
	}
	return nil
}

// unavailable reports whether the server says that it cannot answer just now.
func unavailable(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.Code >= 500
}
