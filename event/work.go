package event

// WorkReturned reports that the work of a role ended before its context did, and so gave the role
// up.
//
// A nil Err is the most common mistake: a lead function that starts goroutines and returns. A lead
// function has to block until its context ends.
type WorkReturned struct {
	Meta
	Role  string
	Epoch uint64
	// Err is the error that the work returned; for a panic, the panic as an error.
	Err error
	// Panic says that the work panicked.
	Panic bool
}

// CallbackPanicked reports that a callback panicked. The panic was caught; the process continues.
type CallbackPanicked struct {
	Meta
	Role string
	// Callback is the name of the callback, such as "OnDemote", or "Sink" for a sink of events. Of a
	// callback that keeps panicking only some panics are reported.
	Callback string
	// Value is the value that was passed to panic.
	Value any
	// Stack is the stack of the panic.
	Stack []byte
}

func (WorkReturned) event()     {}
func (CallbackPanicked) event() {}
