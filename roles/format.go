package roles

import "fmt"

// Format writes the manager's instance id for every verb. It never prints the fields, because they
// change concurrently.
func (m *Manager) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "manager of %s", m.session.Instance()) }
