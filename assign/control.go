package assign

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// query is a request to <namespace>.ctl, answered by the scheduler. JSON.
type query struct {
	Op string `json:"op"`
	ID string `json:"id"`
}

const (
	opCancel = "cancel"
	opStatus = "status"

	askWithin = 2 * time.Second
	maxQuery  = 4 << 10 // bytes
)

// answer is what the scheduler says to it.
type answer struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`
	Kind     string `json:"kind,omitempty"`
	State    State  `json:"state,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Worker   string `json:"worker,omitempty"`
}

// ask asks the scheduler once.
func (c *Client) ask(ctx context.Context, q query) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	data, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	m, err := c.nc.RequestWithContext(ctx, c.sub.ctl(), data)
	if err != nil {
		return answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	var a answer
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	return a, nil
}
