package frame

import (
	"encoding/binary"
	"errors"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Frames are a version, a type, and fields of variable length: numbers as varints, texts and
// payloads with their length before them. A field that a later version adds to the end is not read
// by this one.
const (
	wireVersion = 1

	// MaxFrame bounds what is read at all.
	MaxFrame = 64 << 20
	maxList  = 4096 // assignments or reports in a frame
)

// FrameType tells what a frame says.
type FrameType byte

const (
	FrameAssign FrameType = iota + 1
	FrameStop
	FrameSync
	FrameAnswer
	FrameSynced
	FrameReport
	FrameSettled
)

var (
	ErrFrame   = errors.New("malformed frame")
	ErrVersion = errors.New("frame of another version")
)

type encoder struct{ b []byte }

func newEncoder(t FrameType, room int) *encoder {
	return &encoder{append(make([]byte, 0, room+64), wireVersion, byte(t))}
}

func (e *encoder) number(n uint64)         { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) signed(n int64)          { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) text(s string)           { e.number(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) bytes(p []byte)          { e.number(uint64(len(p))); e.b = append(e.b, p...) }
func (e *encoder) attempt(a tasks.Attempt) { e.number(a.Epoch); e.number(uint64(a.N)) }

// decoder reads fields; after the first one that is not there every other is zero, and bad is true.
type decoder struct {
	b   []byte
	bad bool
}

// newDecoder checks version and type.
func newDecoder(b []byte, want FrameType) (*decoder, error) {
	switch {
	case len(b) < 2 || len(b) > MaxFrame:
		return nil, ErrFrame
	case b[0] != wireVersion:
		return nil, ErrVersion
	case FrameType(b[1]) != want:
		return nil, ErrFrame
	}
	return &decoder{b: b[2:]}, nil
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.b)
	if !shortest(d.b, size) {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// shortest reports whether b begins with a varint of a size that has no shorter form. So each
// number has one form, and none that is damaged takes the next field's place.
func shortest(b []byte, size int) bool { return size == 1 || size > 1 && b[size-1] != 0 }

func (d *decoder) signed() int64 {
	n, size := binary.Varint(d.b)
	if !shortest(d.b, size) {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

// bytes returns a part of the frame itself.
func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) text() string { return string(d.bytes()) }

// added reads a text that an earlier version does not write: "" if nothing is left.
func (d *decoder) added() string {
	if len(d.b) == 0 {
		return ""
	}
	return d.text()
}

func (d *decoder) attempt() tasks.Attempt {
	epoch, n := d.number(), d.number()
	if n > 1<<32-1 {
		d.bad = true
	}
	return tasks.Attempt{Epoch: epoch, N: uint32(n)}
}

// list reads a count that no frame of this length can belie: each element has least bytes.
func (d *decoder) list(least int) int {
	n := d.number()
	if n > maxList || n*uint64(least) > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) err() error {
	if d.bad {
		return ErrFrame
	}
	return nil
}
