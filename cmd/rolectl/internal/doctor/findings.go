package doctor

import "fmt"

// severity is how bad a finding is. Its number is the exit code that monitoring systems expect.
type severity int

const (
	healthy severity = iota
	warning
	critical
	unknown
)

var severityNames = [...]string{"ok", "warning", "critical", "unknown"}

func (l severity) String() string { return severityNames[l] }

func (l severity) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// finding is one result of a check.
type finding struct {
	Check   string   `json:"check"`
	Level   severity `json:"level"`
	Message string   `json:"message"`
	Fix     string   `json:"fix,omitempty"` // empty only if nothing is wrong
}

// findings are the results of all checks, in their order.
type findings []finding

func (f *findings) ok(check, format string, args ...any) {
	*f = append(*f, finding{check, healthy, fmt.Sprintf(format, args...), ""})
}

func (f *findings) add(l severity, check, fix, format string, args ...any) {
	*f = append(*f, finding{check, l, fmt.Sprintf(format, args...), fix})
}

// worst returns the exit code: a known fault counts more than an unknown state.
func (f findings) worst() severity {
	worst := healthy
	for _, x := range f {
		if x.Level == unknown && worst == healthy ||
			x.Level != unknown && (x.Level > worst || worst == unknown && x.Level != healthy) {
			worst = x.Level
		}
	}
	return worst
}
