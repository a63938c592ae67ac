package dashboard

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// cell is the part of an instance in a role.
type cell struct {
	Instance string `json:"-"`
	// Mark is leads, a place in line, none or out.
	Mark string `json:"mark"`
	// Why says why it is out.
	Why string `json:"why,omitempty"`
}

// Say is the mark in words.
func (c cell) Say() string {
	switch c.Mark {
	case "leads":
		return c.Instance + " leads"
	case "silent":
		return c.Instance + " holds the role, and no heartbeat is seen"
	case "out":
		return c.Instance + " takes part, and would not lead now: " + c.Why
	case "none":
		return c.Instance + " is not a candidate"
	}
	return fmt.Sprintf("%s is number %s in line", c.Instance, c.Mark)
}

// Sign is the mark as one character.
func (c cell) Sign() string {
	switch c.Mark {
	case "leads":
		return "●"
	case "silent":
		return "◌"
	case "out":
		return "✖"
	case "none":
		return "–"
	}
	return c.Mark
}

// Class is the mark as a class of elements.
func (c cell) Class() string {
	switch c.Mark {
	case "leads", "silent", "out", "none":
		return c.Mark
	}
	return "inline"
}

// Line is the cells of a row as HTML. A page has thousands of them, and a template takes many times
// as long. The marks of fragments hold a NUL, which Clean lets nobody write.
func (r roleRow) Line() template.HTML {
	var line strings.Builder
	for _, c := range r.Cells {
		line.WriteString(`<td class="c ` + c.Class() + `" title="`)
		template.HTMLEscape(&line, []byte(wording.Clean(c.Say())))
		line.WriteString(`">`)
		template.HTMLEscape(&line, []byte(wording.Clean(c.Sign())))
		line.WriteString("</td>")
	}
	return template.HTML(line.String()) //nolint:gosec // all names are escaped
}
