package record

import (
	"encoding/json"
	"math"
)

// flat is a record whose fields are texts, numbers and truths. The form that Encode gives it is
// read here in a fraction of the time that encoding/json takes: a process reads a lease with every
// heartbeat of every other one.
type flat interface {
	// set takes the value of a field. It returns false for a field that it does not have, and for a
	// value that the field cannot be.
	set(field []byte, v scalar) bool
	clear()
}

// nested is a record that has fields of several values. They are read by read; ours is whether the
// record has such a field of that name.
type nested interface {
	read(field []byte, s *scanner) (ours, ok bool)
}

// readFlat reads a record from its plain form: one object without spaces. Its names are written as
// Encode writes them, its texts are ASCII without escapes, and its numbers have no
// fraction and no exponent. Every other form is for encoding/json: readFlat returns false then,
// with nothing set. A record that readFlat takes is the one that encoding/json makes of the same
// bytes.
func readFlat(b []byte, to flat) bool {
	if !readFields(b, to) {
		to.clear()
		return false
	}
	return true
}

func readFields(b []byte, to flat) bool {
	s := scanner{b}
	if !s.skip('{') {
		return false
	}
	if s.skip('}') {
		return len(s.rest) == 0
	}
	for {
		field, ok := s.text()
		if !ok || !s.skip(':') {
			return false
		}
		if !readField(field, &s, to) {
			return false
		}
		if !s.skip(',') {
			return s.skip('}') && len(s.rest) == 0
		}
	}
}

func readField(field []byte, s *scanner, to flat) bool {
	if to, ok := to.(nested); ok {
		if ours, ok := to.read(field, s); ours {
			return ok
		}
	}
	v, ok := s.scalar()
	return ok && to.set(field, v)
}

// scanner is what of a record is still to be read.
type scanner struct{ rest []byte }

func (s *scanner) skip(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text reads a string.
func (s *scanner) text() (text []byte, ok bool) {
	if !s.skip('"') {
		return nil, false
	}
	for i, c := range s.rest {
		switch {
		case c == '"':
			text, s.rest = s.rest[:i], s.rest[i+1:]
			return text, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// number reads a number.
func (s *scanner) number() (n uint64, ok bool) {
	i := 0
	for ; i < len(s.rest) && '0' <= s.rest[i] && s.rest[i] <= '9'; i++ {
		digit := uint64(s.rest[i] - '0')
		if n > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		n = 10*n + digit
	}
	if i == 0 || i > 1 && s.rest[0] == '0' {
		return 0, false
	}
	s.rest = s.rest[i:]
	return n, true
}

// word reads a word without quotes.
func (s *scanner) word(w string) bool {
	if len(s.rest) < len(w) || string(s.rest[:len(w)]) != w {
		return false
	}
	s.rest = s.rest[len(w):]
	return true
}

// json reads an object with encoding/json.
func (s *scanner) json(to any) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				object := s.rest[:i+1]
				s.rest = s.rest[i+1:]
				return json.Unmarshal(object, to) == nil
			}
		}
		if depth == 0 {
			return false
		}
	}
	return false
}

func (s *scanner) scalar() (v scalar, ok bool) {
	if len(s.rest) == 0 {
		return v, false
	}
	switch s.rest[0] {
	case '"':
		v.kind = textual
		v.letters, ok = s.text()
	case 't', 'f':
		v.kind, v.truth = logical, s.rest[0] == 't'
		ok = s.word("true") || s.word("false")
	default:
		v.kind, v.minus = numeric, s.skip('-')
		v.n, ok = s.number()
		ok = ok && (!v.minus || v.n > 0)
	}
	return v, ok
}

// scalar is the value of a field.
type scalar struct {
	kind    scalarKind
	letters []byte
	n       uint64
	minus   bool
	truth   bool
}

type scalarKind uint8

const (
	textual scalarKind = iota
	numeric
	logical
)

func (v scalar) text(to *string) bool {
	*to = string(v.letters)
	return v.kind == textual
}

func (v scalar) bool(to *bool) bool {
	*to = v.truth
	return v.kind == logical
}

func (v scalar) uint64(to *uint64) bool {
	*to = v.n
	return v.kind == numeric && !v.minus
}

func (v scalar) uint32(to *uint32) bool {
	*to = uint32(v.n)
	return v.kind == numeric && !v.minus && v.n <= math.MaxUint32
}

func (v scalar) int64(to *int64) bool {
	*to = int64(v.n)
	return v.kind == numeric && !v.minus && v.n <= math.MaxInt64
}

func (v scalar) int32(to *int32) bool {
	n, most := int64(v.n&math.MaxUint32), uint64(math.MaxInt32)
	if v.minus {
		n, most = -n, most+1
	}
	*to = int32(n)
	return v.kind == numeric && v.n <= most
}

// version is an int, and an int may have 32 bits.
func (v scalar) version(to *int) bool {
	*to = int(v.n)
	return v.kind == numeric && !v.minus && v.n <= math.MaxInt32
}
