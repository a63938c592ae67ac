package roles

import (
	"encoding/json"

	"github.com/rolemanager/rolemanager/internal/seconds"
)

// plainStatus has no methods, so that its fields can be encoded beside those in seconds.
type plainStatus Status

func (s *Status) shape() any {
	return &struct {
		*plainStatus
		HeartbeatAge *seconds.Duration `json:"heartbeat_age_seconds"`
		HeartbeatRTT *seconds.Duration `json:"heartbeat_rtt_seconds"`
	}{(*plainStatus)(s), (*seconds.Duration)(&s.HeartbeatAge), (*seconds.Duration)(&s.HeartbeatRTT)}
}

// MarshalJSON writes the durations as the numbers heartbeat_age_seconds and heartbeat_rtt_seconds.
func (s Status) MarshalJSON() ([]byte, error) { return json.Marshal(s.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Status) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, s.shape()) }
