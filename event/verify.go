package event

// FramesUnverified reports, once, that a worker takes tasks without checking who has signed them: it was configured so.
type FramesUnverified struct {
	Meta
	Namespace string
}

func (FramesUnverified) event() {}
