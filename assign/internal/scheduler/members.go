package scheduler

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/event"
)

// widen makes the session's watch carry every member, and tells the loop when it has: nothing is handed out before. A
// connection that is lost meanwhile fails the attempt, not the term, so it is made again until ctx ends.
func (l *scheduler) widen(ctx context.Context, epoch uint64) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	for attempts := 1; ; attempts++ {
		narrow, err := l.h.Widen(ctx, l.cfg.Role, epoch)
		if err == nil {
			l.carried <- narrow // size 1, and this is the only one
			return
		}
		if ctx.Err() != nil {
			return
		}
		l.emit(event.Fault{Meta: l.h.Meta(), Role: l.cfg.Role, Doing: "watch every member", Err: err, Attempts: attempts})
		timer := time.NewTimer(pace.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}
