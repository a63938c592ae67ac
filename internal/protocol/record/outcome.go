package record

// Outcome is what is known of a write. Unknown is never taken for Refused: it is resolved from the
// watch.
type Outcome uint8

const (
	Unknown Outcome = iota
	Won
	Refused
)

func (o Outcome) String() string { return [...]string{"unknown", "won", "refused"}[o] }
