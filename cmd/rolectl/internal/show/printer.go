package show

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// Formats are what -o takes.
var Formats = []string{"table", "wide", "json", "name"}

// Schema names the form of every JSON document of this program, docs/reference/rolectl-v1.json.
// Fields may be added to it; another number means that a field has gone or has another meaning.
const Schema = "rolectl/v1"

// Printer writes in one format.
type Printer struct {
	W      io.Writer
	Format string
	Color  bool
	// Width is that of the terminal, 0 when lines may have any length.
	Width int
}

// Document is the beginning of every JSON document.
type Document struct {
	Schema string `json:"schema"`
	Kind   string `json:"kind"`
}

// Of begins a document of a kind.
func Of(kind string) Document { return Document{Schema, kind} }

// Table is the data of a command in each of the formats.
type Table struct {
	Columns []string
	Wide    []string // columns that only wide has, after the others
	// Names are the columns whose cells are shortened, in the middle, where a line is too long for
	// the terminal. Spare are those that are left out after that, the first one first.
	Names, Spare []string
	Rows         []Row
	// JSON is the document.
	JSON any
	// Empty is printed for a table without rows.
	Empty string
}

// Row is one line.
type Row struct {
	Name  string
	Cells []string
	Wide  []string
	Tone  Tone
}

// Print writes t in the format of p.
func (p Printer) Print(t Table) error {
	switch p.Format {
	case "json":
		return p.JSON(t.JSON)
	case "name":
		for _, r := range t.Rows {
			if _, err := fmt.Fprintln(p.W, wording.Clean(r.Name)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(t.Rows) == 0 && t.Empty != "" {
		_, err := fmt.Fprintln(p.W, t.Empty)
		return err
	}
	return p.table(t)
}

// JSON writes a document with indentation.
func (p Printer) JSON(document any) error {
	e := json.NewEncoder(p.W)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}

// Line writes a document as one line.
func (p Printer) Line(document any) error {
	e := json.NewEncoder(p.W)
	e.SetEscapeHTML(false)
	return e.Encode(document)
}
