package election

import (
	"context"
	"errors"
	"time"
)

const (
	maxPatience = 4 * watchTimeout // so long is nothing seen, too, when the answer was lost with a connection
	// enough is how long a watch has to have lasted for its end to have nothing to do with its
	// making.
	enough = time.Minute
)

// patience is how long the next watch may take to be made. One that was not made in time was not
// because the server or this process has too much to do. Each new one costs the server as much as
// the one before: many members that all had the same patience for good would keep each other from
// ever being served.
type patience time.Duration

// after learns from a watch that lasted so long, its making included, and ended with err. It
// reports whether it came too late.
func (p *patience) after(lasted time.Duration, err error) (late bool) {
	late = errors.Is(err, context.DeadlineExceeded)
	switch {
	case late:
		*p = min(2**p, patience(maxPatience))
	case lasted >= enough:
		*p = patience(watchTimeout)
	}
	return late
}
