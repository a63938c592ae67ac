package roles

import "fmt"

// Format writes whose manager it is, with every verb: its fields change under who looks.
func (m *Manager) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "manager of %s", m.session.Instance()) }
