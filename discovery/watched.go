package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// longest is how much of a message of a watch is kept.
const longest = 64 << 10

// calm is the pause between a watch and the next look. It doubles up to four times while watches
// are short and change nothing.
const calm = 500 * time.Millisecond

// place is where a list can be read and watched.
type place interface {
	// look reads the list.
	look(ctx context.Context) ([]Server, error)
	// watch waits until the list of the last look may have changed. An error says that it cannot be
	// watched here, or no more.
	watch(ctx context.Context) error
}

// watched looks, and again after each watch, until the list differs from last. A watch only says
// when to look. So one that lies, or has missed something, costs a look and nothing else. It lasts
// for wait at most: 5 min if that is 0, 1 s at least.
func watched(ctx context.Context, source string, last []Server, wait time.Duration, p place) ([]Server, error) {
	wait = max(cmp.Or(wait, 5*time.Minute), time.Second)
	var broken error // of the last watch
	short := 0
	for {
		list, err := once(ctx, source, within, p.look)
		if err != nil || !Same(list, last) {
			return list, err
		}
		begun := time.Now()
		timed, cancel := context.WithTimeout(ctx, wait)
		err = p.watch(timed)
		late := errors.Is(timed.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil || late || time.Since(begun) > 10*time.Second:
			broken = nil
		case broken != nil: // looking works and watching does not
			return nil, &LookupError{source, fmt.Errorf("watch: %w", err)}
		default:
			broken = err // as when a server restarts
		}
		// Many changes come at once, and most leave the list as it was.
		if err := pause(ctx, jittered(calm<<short)); err != nil {
			return nil, err
		}
		if short = min(short+1, 4); late || time.Since(begun) > 10*time.Second {
			short = 0
		}
	}
}
