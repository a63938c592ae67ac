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

// ClockAhead asks the server for its time, and returns by how much its clock is ahead of the local
// one.
func ClockAhead(ctx context.Context, nc *nats.Conn, reach natskv.Reach, stream string) (time.Duration, error) {
	js, err := reach.JetStream(nc)
	if err != nil {
		return 0, err
	}
	sent := time.Now()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("ask for stream %s: %w", stream, err)
	}
	middle := sent.Add(time.Since(sent) / 2)
	return s.CachedInfo().TimeStamp.Sub(middle), nil
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
