package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// ClockStep is a record with an earlier server time than the record before it: the server's clock
// went back.
type ClockStep struct {
	Key  string
	Back time.Duration
}

// maxSteps bounds the memory of a clock that steps often.
const maxSteps = 16

// ClockAhead asks the leader of a stream for its time. It returns by how much that clock is ahead
// of the local one, and how long the answer took.
func ClockAhead(
	ctx context.Context, nc *nats.Conn, reach natskv.Reach, stream string,
) (ahead, took time.Duration, err error) {
	js, err := reach.JetStream(nc)
	if err != nil {
		return 0, 0, err
	}
	sent := time.Now()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for stream %s: %w", stream, err)
	}
	took = time.Since(sent)
	return s.CachedInfo().TimeStamp.Sub(sent.Add(took / 2)), took, nil
}

// WorstClockStep returns the largest step back of the server's clock so far, or the zero value.
func (l *Records) WorstClockStep() (worst ClockStep) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		if s.Back > worst.Back {
			worst = s
		}
	}
	return worst
}
