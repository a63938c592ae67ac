package stage

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// screen is where a person watches. On a terminal, a table is redrawn in place and events scroll by
// above it. Elsewhere (a file, a pipe, a log), events are lines, the table is printed now and then,
// and nothing but text is written. NO_COLOR takes the colours away.
type screen struct {
	out    io.Writer
	now    func() time.Duration
	live   bool
	colour bool

	mu    sync.Mutex
	table []string // as drawn last, on a terminal
}

func newScreen(out io.Writer, now func() time.Duration) *screen {
	s := &screen{out: out, now: now}
	if f, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		s.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	s.colour = s.live && os.Getenv("NO_COLOR") == ""
	return s
}

// Styles of a line.
const (
	plain  = ""
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint gives text a style where there are colours.
func (s *screen) paint(style, text string) string {
	if !s.colour || style == plain {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// say prints an event, with the time since the start.
func (s *screen) say(style, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.paint(faint, fmt.Sprintf("%8.3fs  ", s.now().Seconds())) + s.paint(style, text))
}

// print prints lines as they are.
func (s *screen) print(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(lines...)
}

// draw redraws the table on a terminal. Elsewhere it does nothing.
func (s *screen) draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		s.replace(nil, lines)
	}
}

// snapshot prints the table at a moment worth keeping. On a terminal the table is there anyway.
func (s *screen) snapshot(lines []string) {
	if !s.live {
		s.print(append(append([]string{""}, lines...), "")...)
	}
}

// clear removes the table.
func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(nil, nil)
}

// write puts lines above the table. s.mu is held.
func (s *screen) write(lines ...string) { s.replace(lines, s.table) }

// replace moves up over the table, and writes lines and the new table over it, in one write so that
// nothing flickers. The lines of the table are not wrapped, however narrow the terminal is: a
// wrapped line would count as two. s.mu is held.
func (s *screen) replace(lines, table []string) {
	var b strings.Builder
	if len(s.table) > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", len(s.table))
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	if len(table) > 0 {
		b.WriteString("\x1b[?7l" + strings.Join(table, "\n") + "\n\x1b[?7h")
	}
	s.table = table
	_, _ = io.WriteString(s.out, b.String())
}
