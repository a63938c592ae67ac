package show

import (
	"slices"
	"unicode/utf8"
)

const (
	space = 2 // between two columns
	// shortest is the length to which a name is shortened before columns are left out, and briefest
	// the one to which it is shortened after that.
	shortest = 16
	briefest = 8
)

// fit makes a table as narrow as the terminal: it shortens names, then leaves out columns that can
// be spared, then shortens names more. A table that is still too wide stays so.
func (p Printer) fit(t Table) Table {
	if p.Width <= 0 || p.Format == "wide" {
		return t
	}
	t.Columns = slices.Clone(t.Columns)
	t.Rows = slices.Clone(t.Rows)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Clone(t.Rows[i].Cells)
	}
	t.shorten(p.Width, shortest)
	for _, column := range t.Spare {
		if t.width() <= p.Width {
			break
		}
		t.leaveOut(column)
	}
	t.shorten(p.Width, briefest)
	return t
}

// widths are those of the columns.
func (t *Table) widths() []int {
	all := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = utf8.RuneCountInString(c)
	}
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			all[i] = max(all[i], utf8.RuneCountInString(orDash(c)))
		}
	}
	return all
}

// width is that of a line.
func (t *Table) width() int {
	sum := space * (len(t.Columns) - 1)
	for _, w := range t.widths() {
		sum += w
	}
	return sum
}

// shorten makes the widest names shorter, until the table has a width or all names have a length.
func (t *Table) shorten(width, least int) {
	target := t.widths()
	for excess := t.width() - width; excess > 0; excess-- {
		widest := -1
		for i, column := range t.Columns {
			if slices.Contains(t.Names, column) && target[i] > max(least, utf8.RuneCountInString(column)) &&
				(widest < 0 || target[i] > target[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		target[widest]--
	}
	for _, r := range t.Rows {
		for i := range r.Cells {
			r.Cells[i] = Middle(r.Cells[i], target[i])
		}
	}
}

func (t *Table) leaveOut(column string) {
	i := slices.Index(t.Columns, column)
	if i < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for j := range t.Rows {
		t.Rows[j].Cells = slices.Delete(t.Rows[j].Cells, i, i+1)
	}
}

// Middle shortens a text to a length: names that belong together begin alike, and are told apart by
// their ends.
func Middle(text string, length int) string {
	runes := []rune(text)
	if len(runes) <= length || length < 1 {
		return text
	}
	head := (length - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(length-1-head):])
}
