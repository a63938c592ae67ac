package doctor

import "fmt"

// severity is how bad a finding is; its number is the exit code, as monitoring systems have it.
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

// finding is what one check has found.
type finding struct {
	Check   string   `json:"check"`
	Level   severity `json:"level"`
	Message string   `json:"message"`
	Fix     string   `json:"fix,omitempty"` // never empty when something is wrong
}

// findings are those of one examination, in the order of the checks.
type findings []finding

func (f *findings) ok(check, format string, args ...any) {
	*f = append(*f, finding{check, healthy, fmt.Sprintf(format, args...), ""})
}

func (f *findings) add(l severity, check, fix, format string, args ...any) {
	*f = append(*f, finding{check, l, fmt.Sprintf(format, args...), fix})
}

// worst is the exit code: what is known to be wrong comes before what is not known.
func (f findings) worst() severity {
	worst := healthy
	for _, x := range f {
		if x.Level == unknown && worst == healthy || x.Level != unknown && (x.Level > worst || worst == unknown && x.Level != healthy) {
			worst = x.Level
		}
	}
	return worst
}
