package show

import (
	"math"
	"time"
)

// Seconds is a duration in JSON documents: in seconds, to the microsecond.
func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }
