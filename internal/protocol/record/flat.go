package record

import "math"

// flat is a record whose fields are texts, numbers and truths. The form that Encode gives it is
// read here in a fraction of the time that encoding/json takes: a process reads a lease with every
// heartbeat of every other one.
type flat interface {
	// set takes the value of a field. It returns false for a field that it does not have, and for a
	// value that the field cannot be.
	set(field []byte, v scalar) bool
	clear()
}

// readFlat reads a record from its plain form: one object without spaces. Its names are written as
// Encode writes them, its texts are ASCII without escapes, and its numbers have no sign, no
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
		v, ok := s.scalar()
		if !ok || !to.set(field, v) {
			return false
		}
		if !s.skip(',') {
			return s.skip('}') && len(s.rest) == 0
		}
	}
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
		v.kind = numeric
		v.n, ok = s.number()
	}
	return v, ok
}

// scalar is the value of a field.
type scalar struct {
	kind    scalarKind
	letters []byte
	n       uint64
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
	return v.kind == numeric
}

func (v scalar) uint32(to *uint32) bool {
	*to = uint32(v.n)
	return v.kind == numeric && v.n <= math.MaxUint32
}

func (v scalar) int64(to *int64) bool {
	*to = int64(v.n)
	return v.kind == numeric && v.n <= math.MaxInt64
}

func (v scalar) int32(to *int32) bool {
	*to = int32(v.n)
	return v.kind == numeric && v.n <= math.MaxInt32
}

// version is an int, and an int may have 32 bits.
func (v scalar) version(to *int) bool {
	*to = int(v.n)
	return v.kind == numeric && v.n <= math.MaxInt32
}
