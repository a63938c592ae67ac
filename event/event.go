package event

import (
	"reflect"
	"time"
)

// Event is one of the structs of this package; no other package can add one.
//
// Use a type switch to tell events apart, [MetaOf] for the fields that all events carry, and [Name]
// for a short name.
type Event interface {
	event()
}

// Sink takes events.
//
// Observe is called in order, from one goroutine per session. It should return soon: the events
// behind this one wait.
type Sink interface {
	Observe(e Event)
}

// SinkFunc makes a function a [Sink].
type SinkFunc func(e Event)

// Observe calls f.
func (f SinkFunc) Observe(e Event) { f(e) }

// Meta is what every event carries.
type Meta struct {
	// Time is when it happened, by the clock of the process that reports it.
	Time time.Time
	// Bucket is the KV bucket of the session.
	Bucket string
	// Instance is the process (member) that reports the event, not the process that the event is
	// about.
	Instance string
	// Session is the number of the session at that moment, 0 when none is open.
	Session uint64
	// Correlation is an id per session and term. It finds the lines of a log that belong together.
	// It is not secret, and proves nothing.
	Correlation string
}

func (m Meta) meta() Meta { return m }

// MetaOf returns what every event carries; the zero Meta for nil.
func MetaOf(e Event) Meta {
	if m, ok := e.(interface{ meta() Meta }); ok {
		return m.meta()
	}
	return Meta{}
}

// Name returns the name of the event's struct, such as "RolePromoted"; "" for nil.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return reflect.Indirect(reflect.ValueOf(e)).Type().Name()
}

// Outcomes of a write to the store, as [Heartbeat] and [ClaimAttempted] report them.
const (
	// OutcomeWon says that the server has acknowledged the write.
	OutcomeWon = "won"
	// OutcomeRefused says that the server has refused the write: another process wrote first.
	OutcomeRefused = "refused"
	// OutcomeUnknown says that no answer came in time. The write may have landed; only the watch
	// can tell.
	OutcomeUnknown = "unknown"
)
