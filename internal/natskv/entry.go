package natskv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Entry is one record, as it was stored at one revision.
type Entry struct {
	Key string
	// Value belongs to the receiver.
	Value []byte
	// Revision is the record's position in the bucket's stream.
	Revision uint64
	// Header was stored along with the value, and includes the server's conditions. It is nil when
	// there is none.
	Header nats.Header
	// Time is when the record was stored, by the clock of the stream's leader.
	Time time.Time
	// Marker is true when the record says that the key was deleted, purged, or has expired. The
	// next write of the key must expect this revision.
	Marker bool
}

// WrittenOver is the revision of the record of the same key that this one has taken the place of,
// if its writer has made that the condition; 0 if the writer had another condition or none, or knew
// of no record.
func (e *Entry) WrittenOver() uint64 {
	if len(e.Header[headerExpect]) == 0 || len(e.Header[headerExpectOnSubject]) > 0 {
		return 0
	}
	revision, err := strconv.ParseUint(e.Header[headerExpect][0], 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// KeptUntil is when the server removes the record, unless it is written again; zero for never, or
// if it was read without its headers.
func (e *Entry) KeptUntil() time.Time {
	if len(e.Header[headerTTL]) == 0 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(e.Header[headerTTL][0], 10, 64)
	if err != nil || seconds <= 0 || seconds > math.MaxInt64/int64(time.Second) {
		return time.Time{}
	}
	return e.Time.Add(time.Duration(seconds) * time.Second)
}

// Headers of markers: written by a KV client, and by the server for expired and removed records
// (ADR-8, ADR-43).
const (
	headerOperation    = "KV-Operation"
	headerMarkerReason = "Nats-Marker-Reason"
)

// isMarker reports whether a record with this header is a marker.
func isMarker(h nats.Header) bool {
	if len(h) == 0 {
		return false
	}
	op := h.Get(headerOperation)
	return op == "DEL" || op == "PURGE" || h.Get(headerMarkerReason) != ""
}

// isControl reports whether the server sent something other than a delivery. Such a message comes
// on the subject of the subscription. A record keeps the subject under which it was stored, and may
// have been stored with any header.
func isControl(prefix string, m *nats.Msg) bool {
	return m.Header.Get("Status") != "" && !strings.HasPrefix(m.Subject, prefix)
}

// entry reads a message of the watch's consumer, the message's number within the consumer, and how
// many more messages the server had for this consumer when it sent this one.
func entry(prefix string, m *nats.Msg) (e Entry, number, after uint64, err error) {
	meta, err := m.Metadata()
	if err != nil {
		return Entry{}, 0, 0, fmt.Errorf("%w: not a delivery: %w", ErrWatchLost, err)
	}
	key, ok := strings.CutPrefix(m.Subject, prefix)
	if !ok || key == "" {
		return Entry{}, 0, 0, fmt.Errorf("%w: delivery of %q", ErrWatchLost, m.Subject)
	}
	// nats.go copies every payload out of its read buffer, so the entry may keep m.Data.
	e = Entry{
		Key: key, Value: m.Data, Revision: meta.Sequence.Stream, Header: m.Header, Time: meta.Timestamp,
		Marker: isMarker(m.Header),
	}
	return e, meta.Sequence.Consumer, meta.NumPending, nil
}
