package record

import (
	"bytes"
	"strings"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// An announcement is an outcome without the headers that a dead task keeps for a requeue. It has a
// line for each of these headers of the record, empty where the record has none, and then the data.
// It has no NATS header, which would take longer to read than all the rest.
var announcedHeaders = [...]string{HeaderOutcome, HeaderFailure, HeaderTrace, headerObject}

// oneLine keeps a value on its line, as a header does.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// EncodeAnnouncement makes the announcement of the record of an outcome.
func EncodeAnnouncement(op *natskv.Write) []byte {
	var lines [len(announcedHeaders)]string
	size, data := len(lines), op.Value
	for i := range op.Header {
		f := &op.Header[i]
		if f.Name == HeaderTask {
			data = nil // it is the input
		}
		for j, name := range announcedHeaders {
			if f.Name == name {
				lines[j] = oneLine.Replace(f.Value)
				size += len(lines[j])
			}
		}
	}
	b := make([]byte, 0, size+len(data))
	for _, line := range lines {
		b = append(append(b, line...), '\n')
	}
	return append(b, data...)
}

// DecodeAnnouncement reads an announcement, and keeps nothing of b.
func DecodeAnnouncement(b []byte) (*Outcome, error) {
	var lines [len(announcedHeaders)]string
	for i := range lines {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			return nil, ErrRecord
		}
		lines[i], b = string(line), rest
	}
	o := &Outcome{failure: lines[1], trace: lines[2], Object: lines[3] != "", Data: bytes.Clone(b)}
	if err := o.read(lines[0]); err != nil {
		return nil, err
	}
	return o, nil
}
