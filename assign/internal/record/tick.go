package record

import (
	"encoding/json"
	"fmt"
	"time"
)

// Tick is the data at k.<name>: the last tick that was submitted, or passed over. Last is the last
// one that was submitted then, zero for none.
type Tick struct {
	Version int       `json:"v"`
	Tick    time.Time `json:"tick"`
	Passed  bool      `json:"passed,omitempty"`
	Last    time.Time `json:"last,omitzero"`
}

// EncodeTick is the record of a tick that is submitted.
func EncodeTick(tick time.Time) ([]byte, error) {
	return json.Marshal(Tick{Version: 1, Tick: tick.UTC()})
}

// EncodePass is the record of a tick that is passed over, after last was submitted.
func EncodePass(tick, last time.Time) ([]byte, error) {
	return json.Marshal(Tick{Version: 1, Tick: tick.UTC(), Passed: true, Last: last.UTC()})
}

// DecodeTick reads either. Last is the last one that was submitted.
func DecodeTick(data []byte) (t Tick, err error) {
	if err := json.Unmarshal(data, &t); err != nil {
		return Tick{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if t.Version != 1 || t.Tick.IsZero() || t.Last.After(t.Tick) {
		return Tick{}, ErrRecord
	}
	if !t.Passed {
		t.Last = t.Tick
	}
	return t, nil
}
