package figures

import (
	"os/exec"
	"runtime/debug"
	"strings"
)

// About is the job of rows that say what the others are of. Each has one figure, and what there is
// to say is its note.
const About = "about"

// About appends such a row.
func (s *Sheet) About(peer, mode, figure, note string) error {
	return s.Add(Row{Job: About, Peer: peer, Mode: mode, Figure: figure, Note: note})
}

// commit is what is checked out where this program runs, and whether that is what is measured.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", ":(top)*.go", ":(top)*go.mod").Run() != nil {
		return strings.TrimSpace(string(out)) + ", with changes"
	}
	return strings.TrimSpace(string(out))
}

// Version is that of a module that is built into this program.
func Version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
