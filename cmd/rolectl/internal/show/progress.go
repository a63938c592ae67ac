package show

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// Progress is a bar on one line of a terminal.
type Progress struct {
	f     *os.File
	what  string
	began time.Time
}

// NewProgress begins a bar.
func NewProgress(f *os.File, what string) *Progress {
	return &Progress{f: f, what: wording.Clean(what), began: time.Now()}
}

const progressWidth = 30

// Draw replaces the bar; part is the finished part, from 0 to 1.
func (p *Progress) Draw(state string, part float64) {
	part = min(max(part, 0), 1)
	done := int(part * progressWidth)
	line := fmt.Sprintf("%s  [%s%s] %3.0f %%  %s, %s", p.what, strings.Repeat("#", done),
		strings.Repeat(".", progressWidth-done),
		100*part, wording.Clean(state), wording.Age(time.Since(p.began).Round(time.Second)))
	if width, _, err := term.GetSize(int(p.f.Fd())); err == nil && width > 1 {
		line, _ = cut(line, width-1)
	}
	_, _ = p.f.WriteString("\r" + line + "\x1b[K") // a bar that cannot be drawn is dropped
}

// Close leaves the last bar, and begins a new line.
func (p *Progress) Close() { _, _ = p.f.WriteString("\n") }
