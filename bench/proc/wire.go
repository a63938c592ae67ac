//go:build linux

package proc

import "encoding/json"

// The environment of a child.
const (
	kindEnv   = "BENCH_CHILD"
	configEnv = "BENCH_CHILD_CONFIG"
)

// call is a line from the parent.
type call struct {
	ID   uint64
	Name string
	Args json.RawMessage `json:",omitempty"`
}

// line is one from the child: the reply to a call, or an event.
type line struct {
	ID    uint64          `json:",omitempty"`
	Reply json.RawMessage `json:",omitempty"`
	Fault string          `json:",omitempty"`
	Event *Event          `json:",omitempty"`
}

// Event is something that happened in a child at a time of the shared clock.
type Event struct {
	What string
	Of   string
	At   int64
}
