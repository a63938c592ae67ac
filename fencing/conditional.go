package fencing

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Publish publishes m under the [Condition] of t's term, and returns the revision of the record. m
// itself is not changed. Its subject is one of the bucket of the roles, $KV.<bucket>.<key>, also
// when js has a JetStream domain or an API prefix: Publish adds that. An attempt waits for 1 s. It
// is repeated if the server did not store it, such as beside another write of the term on a
// replicated bucket, until ctx ends.
//
// Errors:
//   - [ErrStale]: the record of the role is not t's any more, because the term has ended or its
//     token was renewed by a rotation;
//   - [ErrNoToken]: the token has no epoch, holder or id;
//   - [ErrKey]: the subject is outside the bucket;
//   - [ErrUnknown]: m may have been stored, or may be stored later while t's record is there.
//
// Any other error says that nothing was written.
func Publish(
	ctx context.Context, js jetstream.JetStream, m *nats.Msg, bucket string, t Token,
) (revision uint64, err error) {
	key, ours := strings.CutPrefix(m.Subject, subjectOf(bucket, ""))
	switch {
	case !t.complete():
		return 0, fmt.Errorf("publish to %s: %w", m.Subject, ErrNoToken)
	case !ours || !keyText.MatchString(key):
		return 0, fmt.Errorf("publish to %s: %w: use $KV.%s.<key>, without a domain or an API prefix", m.Subject, ErrKey,
			bucket)
	}
	reach := natskv.ReachOf(js)
	sent := &nats.Msg{Subject: reach.Publish(m.Subject), Data: m.Data, Header: maps.Clone(m.Header)}
	Condition(sent, bucket, t)
	sent.Header.Set(headerStream, streamOf(bucket))
	s := Store{nc: js.Conn(), reach: reach, bucket: bucket, timeout: time.Second}
	for wait := pauses(); ; {
		revision, v, err := s.attempt(ctx, sent)
		switch v {
		case stored:
			return revision, nil
		case refused:
			return 0, fmt.Errorf("publish to %s: %w: %v is not the present one of its role", m.Subject, ErrStale, t)
		case hopeless:
			return 0, fmt.Errorf("publish to %s: nothing was written: %w", m.Subject, err)
		case unknown, failed:
			return 0, fmt.Errorf("publish to %s: %w: %w; read the key", m.Subject, ErrUnknown, err)
		}
		if err := pause(ctx, wait, err); err != nil {
			return 0, fmt.Errorf("publish to %s: nothing was written: %w", m.Subject, err)
		}
	}
}
