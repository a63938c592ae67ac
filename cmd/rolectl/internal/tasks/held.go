package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// hold is a paused kind or a drained worker, since when, and the reason that the operator gave.
type hold struct {
	Kind     string    `json:"kind,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Since    time.Time `json:"since"`
}

// maxHeld bounds the number of records that are read.
const maxHeld = 50

// readHolds reads the reasons for holds, which the scheduler does not report. A user who may not
// read the stream sees no reasons.
func (t *scope) readHolds(ctx context.Context, o assign.Overview) []hold {
	all, asked := []hold{}, 0
	read := func(h hold, key string) (more bool) {
		asked++
		r, err := inventory.LastRecord(ctx, t.Conn, t.Reach(), t.namespace, key)
		var absent *jetstream.APIError // the hold has ended meanwhile
		if err != nil && !errors.As(err, &absent) {
			return false
		}
		if reason, holds := readHold(r.Data); err == nil && holds {
			h.Reason, h.Since = reason, r.Time
			all = append(all, h)
		}
		return asked < maxHeld
	}
	for _, k := range o.Kinds {
		if k.Paused && !read(hold{Kind: k.Kind}, "p."+k.Kind) {
			return all
		}
	}
	for _, w := range o.Workers {
		if w.Drained && !read(hold{Instance: w.Instance}, "d."+w.Instance) {
			return all
		}
	}
	return all
}

// readHold reads the record of a hold. An empty record means that the hold has ended.
func readHold(data []byte) (reason string, holds bool) {
	var said struct {
		Version int    `json:"v"`
		Reason  string `json:"reason"`
	}
	if json.Unmarshal(data, &said) != nil || said.Version != 1 {
		return "", false
	}
	return said.Reason, true
}

// withHold adds to a state how long it has lasted, and its reason, if known.
func withHold(state string, all []hold, is func(h hold) bool) string {
	for _, h := range all {
		if is(h) {
			state += " for " + wording.Age(max(time.Since(h.Since), 0))
			if h.Reason != "" {
				state += ": " + h.Reason
			}
			return state
		}
	}
	return state
}
