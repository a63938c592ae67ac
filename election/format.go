package election

import "fmt"

// These types print only their names, with every verb. A log line must never read their fields,
// which change concurrently and may hold secrets.

// Format writes which term it is.
func (t *Term) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "term of %s at epoch %d", t.Role(), t.Epoch())
}

// Format writes which election it is.
func (e *Election) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "election of %s by %s", e.cfg.Role, e.session.Instance())
}

// Format writes whose session it is.
func (s *Session) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "session of %s in %s", s.Instance(), s.Bucket())
}
