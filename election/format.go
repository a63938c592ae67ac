package election

import "fmt"

// What lives is never looked into by a log line: its fields change under it, and hold what is not to be read. With every verb
// it says what it is.

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
