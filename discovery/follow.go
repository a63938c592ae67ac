package discovery

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// FollowOptions say what [Follow] tells, and how fast it tries again.
type FollowOptions struct {
	// Changed is called with each new list. It has at least one server, each URL has a scheme and a
	// port, and it is sorted. The next look-up begins when Changed has returned.
	Changed func(list []Server)
	// Failed, if set, is called when look-ups begin to fail: once for each reason, until one has
	// worked. The last list stays.
	Failed func(err error)
	// MinWait and MaxWait bound the pause after a failure. It grows from the first to the second,
	// with jitter. Defaults 500 ms and 30 s.
	MinWait, MaxWait time.Duration
}

// Follow calls Next of servers again and again until ctx ends, and returns its error. A list that
// is empty, unusable or unchanged counts as a failed look-up.
func Follow(ctx context.Context, servers Servers, o FollowOptions) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = defaulted(o.MinWait, 500*time.Millisecond)
	pauses.MaxInterval = defaulted(o.MaxWait, 30*time.Second)
	pauses.Multiplier, pauses.RandomizationFactor = 2, 0.5
	var last []Server
	told := ""
	for {
		begun := time.Now()
		list, err := servers.Next(ctx, last)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			list, err = Normal(list)
		}
		if err == nil && !Same(list, last) {
			last, told = list, ""
			pauses.Reset()
			o.Changed(append([]Server(nil), list...))
			continue
		}
		if time.Since(begun) > pauses.MaxInterval { // it has worked meanwhile
			told = ""
			pauses.Reset()
		}
		if err != nil && err.Error() != told && o.Failed != nil {
			told = err.Error()
			o.Failed(err)
		}
		if err := pause(ctx, pauses.NextBackOff()); err != nil {
			return err
		}
	}
}

func defaulted(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
