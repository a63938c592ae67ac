package seconds

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration is a time.Duration that is a number of seconds in JSON, exact for up to 24 days. The
// name of its field ends in _seconds.
type Duration time.Duration

// IsZero lets "omitzero" leave it out, also behind a pointer.
func (d Duration) IsZero() bool { return d == 0 }

// MarshalJSON writes seconds, without an exponent.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads seconds. Null changes nothing.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s *float64
	if err := json.Unmarshal(text, &s); err != nil || s == nil {
		return err
	}
	ns := math.Round(*s * float64(time.Second))
	if ns < math.MinInt64 || ns >= math.MaxInt64 {
		return fmt.Errorf("%s seconds are too many", text)
	}
	*d = Duration(ns)
	return nil
}
