package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// FuzzTable: any text of records and answers is shown in one line for each row, without characters
// that steer a terminal, and no line of a screen is wider than the screen.
func FuzzTable(f *testing.F) {
	for _, cell := range []string{
		"plain ä", "a\x1b[31mb", "a\nb\tc\r\v\f", "\u202etxt", "\xff", "\u009b1m", "\u2028", "",
		" ", strings.Repeat("w", 300), "&lt;<b>",
	} {
		f.Add(cell, "x", uint8(10))
		f.Add("x", cell, uint8(0))
	}
	f.Fuzz(func(t *testing.T, a, b string, width uint8) {
		var out bytes.Buffer
		p := Printer{W: &out, Format: "wide"}
		if err := p.table(Table{Columns: []string{"A", "B"}, Wide: []string{"C"}, Rows: []Row{
			{Cells: []string{a, b}, Wide: []string{a}},
			{Cells: []string{"x", "y"}, Wide: []string{"z"}},
			{Cells: []string{b, a}, Wide: []string{b}},
		}}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 5 || !slices.Equal(strings.Fields(lines[2]), []string{"x", "y", "z"}) {
			t.Fatalf("%q, %q: %q", a, b, lines)
		}
		for _, line := range lines {
			if strings.ContainsFunc(line, unicode.IsControl) || !utf8.ValidString(line) {
				t.Fatalf("%q, %q: %q", a, b, line)
			}
			if shown, n := cut(line, int(width)); n > int(width) || utf8.RuneCountInString(shown) != n ||
				!strings.HasPrefix(line, shown) {
				t.Fatalf("%q to %d: %q, %d", line, width, shown, n)
			}
		}
		if text := wording.CleanLines(a); strings.Count(text, "\n") != strings.Count(a, "\n") ||
			strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("%q: %q", a, text)
		}
		if text := wording.OneLine(a); strings.ContainsAny(text, "\n\t") || len(text) > len(a) {
			t.Fatalf("%q in one line: %q", a, text)
		}
	})
}
