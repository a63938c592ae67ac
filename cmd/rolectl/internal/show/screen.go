package show

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// Screen draws over the whole terminal, on its alternate screen. Close restores the previous
// content.
type Screen struct {
	f     *os.File
	color bool
}

// OpenScreen takes over the terminal.
func OpenScreen(f *os.File, color bool) *Screen {
	_, _ = f.WriteString("\x1b[?1049h\x1b[?25l") // an error shows at the first Draw
	return &Screen{f: f, color: color}
}

// Draw shows a title and the output of body, cut to the size of the terminal.
func (s *Screen) Draw(title string, body func(p Printer) error) error {
	width, height, err := term.GetSize(int(s.f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	var buf bytes.Buffer
	if err := body(Printer{W: &buf, Color: s.color, Width: width}); err != nil {
		return err
	}
	lines := append([]string{wording.Clean(title), ""}, strings.Split(strings.TrimRight(buf.String(), "\n"), "\n")...)
	if len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("... %d more", hidden))
	}
	var out bytes.Buffer
	out.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			out.WriteString("\r\n")
		}
		shown, n := cut(line, width)
		out.WriteString(shown)
		if n < width { // at the right edge, where the cursor waits to wrap, this would erase the last letter
			out.WriteString("\x1b[K")
		}
	}
	if len(lines) < height {
		out.WriteString("\r\n\x1b[J")
	}
	_, err = s.f.Write(out.Bytes())
	return err
}

// Close restores the terminal.
func (s *Screen) Close() { _, _ = s.f.WriteString("\x1b[?25h\x1b[?1049l") }

// cut shortens a line to a width, and returns its new width; colours do not count.
func cut(line string, width int) (shown string, n int) {
	escaped, colored := false, false
	for i, r := range line {
		switch {
		case r == '\x1b':
			escaped, colored = true, true
		case escaped:
			escaped = r != 'm'
		case n == width:
			if colored {
				return line[:i] + "\x1b[0m", n
			}
			return line[:i], n
		default:
			n++
		}
	}
	return line, n
}

// RedrawEvery is how often a table on a terminal is drawn again without other changes, because of
// the ages in it.
const RedrawEvery = time.Second
