package main

import (
	"slices"
	"strings"
)

// table is one in Markdown. Its first column is text.
type table struct{ strings.Builder }

func (t *table) row(cells ...string) {
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.row(append([]string{"---"}, slices.Repeat([]string{"---:"}, len(head)-1)...)...)
	return t
}
