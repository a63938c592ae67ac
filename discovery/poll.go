package discovery

import (
	"context"
	"math/rand/v2"
	"time"
)

// within is how long one question to a service may take.
const within = 10 * time.Second

// poll looks until the list differs from last. Many processes do not look at the same
// moment, since their pauses differ. Errors are those of look, as a *LookupError.
func poll(ctx context.Context, source string, last []Server, every time.Duration,
	look func(context.Context) ([]Server, error),
) ([]Server, error) {
	for {
		list, err := once(ctx, source, within, look)
		if err != nil || !Same(list, last) {
			return list, err
		}
		if err := pause(ctx, jittered(every)); err != nil {
			return nil, err
		}
	}
}

// once looks once, within a limit of time.
func once(ctx context.Context, source string, limit time.Duration,
	look func(context.Context) ([]Server, error),
) ([]Server, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	list, err := look(ctx)
	if err == nil {
		list, err = Normal(list)
	}
	if err != nil {
		return nil, &LookupError{source, err}
	}
	return list, nil
}

// jittered is a time that differs from d by up to a tenth.
func jittered(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }

// pause waits. Errors: that of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
