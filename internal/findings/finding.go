package findings

import (
	"fmt"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// Level is how bad a finding is. Its number is the exit code that monitoring systems expect.
type Level int

const (
	OK Level = iota
	Warning
	Critical
	Unknown // a check could not run
)

var levelNames = [...]string{"ok", "warning", "critical", "unknown"}

func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level as its name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one result of a check.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // empty only if nothing is wrong
}

// List has the results of all checks, in their order.
type List []Finding

// OK adds that nothing is wrong.
func (f *List) OK(check, format string, args ...any) {
	*f = append(*f, Finding{check, OK, fmt.Sprintf(format, args...), ""})
}

// Add adds that something is wrong, and how to fix it.
func (f *List) Add(l Level, check, fix, format string, args ...any) {
	*f = append(*f, Finding{check, l, fmt.Sprintf(format, wording.PlainArgs(args)...), fix})
}

// Worst is the level of all findings together: a known fault counts more than an unknown state.
func (f List) Worst() Level {
	worst := OK
	for _, x := range f {
		if x.Level == Unknown && worst == OK ||
			x.Level != Unknown && (x.Level > worst || worst == Unknown && x.Level != OK) {
			worst = x.Level
		}
	}
	return worst
}
