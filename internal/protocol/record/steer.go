package record

import "fmt"

// Steer is the record at c.steer.zone.<zone> or c.steer.role.<role>: what an operator has told all
// candidates. The server removes it when its time is over, so no clock of a process matters.
type Steer struct {
	V       int    `json:"v"`
	Drained bool   `json:"drained,omitempty"` // of a zone: its members lead what nobody else can
	Hard    bool   `json:"hard,omitempty"`    // and nothing beside it
	Paused  bool   `json:"paused,omitempty"`  // of a role: nobody leads it
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// AtMs is when it was written, in milliseconds since 1970 by the clock of the operator. It is for
	// people. 0: that is not known.
	AtMs int64 `json:"at_ms,omitempty"`
	// UntilMs is when the server removes it, by the same clock. It is for people too. 0: never.
	UntilMs int64 `json:"until_ms,omitempty"`
}

// DecodeSteer reads a record of an operator.
func DecodeSteer(b []byte) (s Steer, err error) {
	if err := decode(b, &s, &s.V); err != nil {
		return Steer{}, err
	}
	if s.Hard && !s.Drained || s.AtMs < 0 || s.UntilMs < 0 {
		return Steer{}, fmt.Errorf("%w: %s", errGarbage, b)
	}
	return s, nil
}
