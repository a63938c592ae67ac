package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Reading is a place in a stream from which records are read in portions. It is for long stretches:
// to begin costs the server as much time as there are records, and a portion costs little. The
// server forgets a reading that nobody has used for ten seconds.
type Reading struct {
	s        *Stream
	nc       *nats.Conn
	consumer string
	read     uint64 // records so far
}

// Read begins to read the records that a scan describes, without its limit. Errors: those of Watch.
func (s *Stream) Read(ctx context.Context, nc *nats.Conn, what Scan) (*Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := s.known(ctx, nc); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.at, err)
	}
	r := &Reading{s: s, nc: nc, consumer: nuid.Next()}
	if _, err := s.pullConsumer(ctx, nc, r.consumer, what); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.at, err)
	}
	return r, nil
}

// Next reads the next records, in the order of their revisions: at most so many, 1 to 1,000, and no
// more than so many bytes. There are none at the end, and where the next one alone is larger. After
// an error the reading has ended. It waits for five seconds at most: a server that forgets the
// reading meanwhile gives no answer.
func (r *Reading) Next(ctx context.Context, most, bytes int) ([]Entry, error) {
	if most < 1 || most > maxScan {
		return nil, fmt.Errorf("read %s: %d records: use 1 to %d", r.s.at, most, maxScan)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := r.s.known(ctx, r.nc); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.s.at, err)
	}
	entries, _, err := r.s.pull(ctx, r.nc, portion{r.consumer, r.read, uint64(most), bytes})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.s.at, err)
	}
	r.read += uint64(len(entries))
	return entries, nil
}

// Close lets the server forget the reading now.
func (r *Reading) Close() { _ = r.nc.Publish(r.s.at.api("CONSUMER.DELETE")+"."+r.consumer, nil) }
