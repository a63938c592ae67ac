package show

import (
	"bytes"
	"strings"
	"text/tabwriter"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// table writes aligned columns. Colours come after the alignment, line by line: tabwriter would
// count them as text.
func (p Printer) table(t Table) error {
	t = p.fit(t)
	var buf bytes.Buffer
	w := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	line := func(cells, wide []string) {
		if p.Format == "wide" {
			cells = append(append([]string(nil), cells...), wide...)
		}
		for i, c := range cells {
			if i > 0 {
				_, _ = w.Write([]byte{'\t'})
			}
			_, _ = w.Write([]byte(wording.Clean(orDash(c)))) // a bytes.Buffer takes everything
		}
		_, _ = w.Write([]byte("\n"))
	}
	line(t.Columns, t.Wide)
	for _, r := range t.Rows {
		line(r.Cells, r.Wide)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	lines := strings.SplitAfter(strings.TrimSuffix(buf.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \n") + "\n"
		if i > 0 {
			lines[i] = p.Paint(t.Rows[i-1].Tone, strings.TrimSuffix(lines[i], "\n")) + "\n"
		}
	}
	_, err := p.W.Write([]byte(strings.Join(lines, "")))
	return err
}

func orDash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}
