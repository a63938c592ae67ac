package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ClockStep is a record that the server's clock says is older than the one before it.
type ClockStep struct {
	Key  string
	Back time.Duration
}

// maxSteps bounds what is remembered of a clock that goes mad.
const maxSteps = 16

// ClockAhead asks the server what time it is there.
func ClockAhead(ctx context.Context, nc *nats.Conn, stream string) (time.Duration, error) {
	js, err := jetstream.New(nc)
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

// WorstClockStep is the largest step back of the server's clock that was seen; the zero value when there was none.
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
