package event

// WorkReturned reports that the work of a role ended before its context did, and so gave the role up.
//
// With a nil Err that is the commonest mistake: a lead function that starts goroutines and returns. It has to block
// until its context ends.
type WorkReturned struct {
	Meta
	Role  string
	Epoch uint64
	// Err is what the work returned; for a panic, the panic as an error.
	Err error
	// Panic says that the work panicked.
	Panic bool
}

// CallbackPanicked reports that a callback panicked. The panic was caught; the process goes on.
type CallbackPanicked struct {
	Meta
	Role string
	// Callback is the name of the callback, such as "OnDemote".
	Callback string
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the panic.
	Stack []byte
}

func (WorkReturned) event()     {}
func (CallbackPanicked) event() {}
