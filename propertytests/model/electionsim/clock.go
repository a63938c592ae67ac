package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// skewed is the two clocks of one process: both run fast or slow, and the observer's stands still
// through a suspend.
type skewed struct {
	base  int64
	ppm   int64
	slept time.Duration // spent suspended
}

func (c *skewed) holder(t time.Duration) record.Instant {
	return record.Instant(c.base + int64(t) + int64(t)/1_000_000*c.ppm)
}

func (c *skewed) now(t time.Duration) record.Now {
	return record.Now{Holder: c.holder(t), Observer: c.holder(t - c.slept)}
}

// rounding is by how much a span is shown too long at most.
const rounding = time.Microsecond

// when is the moment at which the holder's clock shows i.
func (c *skewed) when(i record.Instant) time.Duration {
	return time.Duration(float64(int64(i)-c.base) / (1 + float64(c.ppm)/1e6))
}

// lasts is how long a span of this clock takes.
func (c *skewed) lasts(d time.Duration) time.Duration {
	return time.Duration(float64(d) / (1 + float64(c.ppm)/1e6))
}
