package dashboard

import (
	"bytes"
	"hash/fnv"
	"html/template"
	"strings"
)

// A template marks the parts of a screen that are replaced on their own. The marks hold a NUL,
// which html/template never lets foreign text write.
const (
	markBegin = "\x00("
	markID    = "\x00:"
	markEnd   = "\x00)"
)

// begin is a template's mark before the element with that id.
func begin(id string) template.HTML {
	return template.HTML(markBegin + strings.ReplaceAll(id, "\x00", "") + markID)
}

// end is a template's mark behind that element.
func end() template.HTML { return markEnd }

// fragment is an element of a screen, with those inside it that change on their own.
type fragment struct {
	id    string
	parts []part
	// outline is a digest of everything but the insides of inner fragments.
	outline uint64
	// changed is the number of the rendering in which the outline has changed last.
	changed uint64
}

// part is text, or an inner fragment.
type part struct {
	text  []byte
	inner *fragment
}

// split parses rendered text with marks into the fragment with that id.
func split(id string, text []byte) *fragment {
	root := &fragment{id: id}
	root.fill(text)
	return root
}

// fill takes text up to the end of the fragment, and returns the rest.
func (f *fragment) fill(text []byte) []byte {
	outline := fnv.New64a()
	defer func() { f.outline = outline.Sum64() }()
	for {
		i := bytes.IndexByte(text, 0)
		if i < 0 {
			i = len(text)
		}
		f.parts = append(f.parts, part{text: text[:i]})
		_, _ = outline.Write(text[:i]) // a hash takes everything
		if i == len(text) {
			return nil
		}
		mark := text[i : i+2]
		text = text[i+2:]
		if string(mark) == markEnd {
			return text
		}
		name, rest, _ := bytes.Cut(text, []byte(markID))
		inner := &fragment{id: string(name)}
		text = inner.fill(rest)
		f.parts = append(f.parts, part{inner: inner})
		_, _ = outline.Write([]byte(markBegin + inner.id + markID))
	}
}

// since compares with the rendering before, nil for none, and numbers what has changed.
func (f *fragment) since(before *fragment, number uint64) {
	f.changed = number
	if before != nil && before.outline == f.outline {
		f.changed = before.changed
	}
	old := map[string]*fragment{}
	if before != nil {
		for _, p := range before.parts {
			if p.inner != nil {
				old[p.inner.id] = p.inner
			}
		}
	}
	for _, p := range f.parts {
		if p.inner != nil {
			p.inner.since(old[p.inner.id], number)
		}
	}
}

// news appends the fragments that have changed after that rendering.
func (f *fragment) news(after uint64, to []swap) []swap {
	if f.changed > after {
		return append(to, swap{f.id, string(f.html(nil))})
	}
	for _, p := range f.parts {
		if p.inner != nil {
			to = p.inner.news(after, to)
		}
	}
	return to
}

// html is the fragment without marks.
func (f *fragment) html(to []byte) []byte {
	for _, p := range f.parts {
		if p.inner != nil {
			to = p.inner.html(to)
			continue
		}
		to = append(to, p.text...)
	}
	return to
}

// swap is an element that takes the place of the one with its id.
type swap struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}
