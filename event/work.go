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

// PromotionReturned reports that OnPromote returned while the term continues. Goroutines that it
// has started are not waited for at the end of the term, and may run beside the next leader:
// OnPromote has to block until its context ends, or OnDemote has to wait for them.
type PromotionReturned struct {
	Meta
	Role  string
	Epoch uint64
}

// CallbackPanicked reports that a callback panicked. The panic was caught; the process continues.
type CallbackPanicked struct {
	Meta
	Role string
	// Callback is the name of the callback, such as "OnDemote", "Sink" for a sink of events, or
	// "handler of email.v1" for the handler of a kind of tasks. Of a callback that keeps panicking
	// only some panics are reported: of a handler one in a minute.
	Callback string
	// Value is the value that was passed to panic.
	Value any
	// Stack is the stack of the panic.
	Stack []byte
}

func (WorkReturned) event()      {}
func (PromotionReturned) event() {}
func (CallbackPanicked) event()  {}
