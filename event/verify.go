package event

// FramesUnverified reports, once, that a worker is configured to take tasks without checking their
// signatures.
type FramesUnverified struct {
	Meta
	Namespace string
}

func (FramesUnverified) event() {}
