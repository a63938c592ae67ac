package natskv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Write is one compare-and-swap.
type Write struct {
	Key   string
	Value []byte // do not change it after Submit, not even after done: it may still be sent
	// Delete writes a delete marker, with Value if there is one. The KV API then shows no key, and
	// the key's last revision is the marker's. With a TTL the marker leaves after it, and nothing
	// remains.
	Delete bool
	// Expect is the revision of Key that the write replaces, which may be a marker's. It is 0 when
	// there is no record at all.
	Expect uint64
	// Guard, when set, is the condition instead of Expect: Key is then written whatever it holds.
	Guard *Guard
	// Header is sent with Value and stored with it. Do not change it after Submit either. Names that
	// begin with "Nats-" are the server's.
	Header []Field
	// TTL is the time after which the server removes the record, unless it is written again; 0 for
	// never. The server counts whole seconds, so it is rounded up. An update inherits no TTL:
	// without one here, the record has none from now on.
	TTL time.Duration
}

// Field is a line of a header.
type Field struct{ Name, Value string }

// Guard is a condition on another key of the same store: its last revision is still Revision. Key
// may end in ".*". Then it means all keys that begin so and have one part more, and Revision is the
// last one of them, 0 if there is none.
//
// On a store with replicas, one guarded write may be in flight per guard key; more end Unknown.
type Guard struct {
	Key      string
	Revision uint64
}

// Outcome is how a write ended.
type Outcome uint8

const (
	// Unknown: the write may be stored now, later, or never. Only the watch tells.
	Unknown Outcome = iota
	// Won: the write is stored.
	Won
	// Refused: the condition did not hold. The write is not stored and never will be.
	Refused
)

func (o Outcome) String() string {
	switch o {
	case Won:
		return "won"
	case Refused:
		return "refused"
	default:
		return "unknown"
	}
}

// Result is the result of a write.
type Result struct {
	Outcome Outcome
	// Revision is the revision of the stored record when the write was won, else 0.
	Revision uint64
	// NoneStored is true when the server has refused a batch, for whatever reason. Nothing of the
	// batch is stored, and nothing ever will be. Outcome is Unknown unless a condition was to blame.
	NoneStored bool
	// Err is nil when the write was won, else the reason. Permanent(Err) reports a fault that
	// another attempt does not cure.
	Err error
}

// Header names of JetStream publishes (ADR-13 and ADR-43 of NATS).
const (
	headerStream          = "Nats-Expected-Stream"
	headerExpect          = "Nats-Expected-Last-Subject-Sequence"
	headerExpectOnSubject = "Nats-Expected-Last-Subject-Sequence-Subject"
	headerTTL             = "Nats-TTL"
)

// checkKey applies the rule of the jetstream package's KeyValue, so that KeyValue can read every
// key: letters, digits and -/_=. without dots at the ends or next to each other.
func checkKey(key string) error {
	before := byte('.')
	for i := range len(key) {
		c := key[i]
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '/' || c == '_' ||
			c == '='
		if !ok && (c != '.' || before == '.') {
			return fmt.Errorf("%w %q", ErrInvalidKey, key)
		}
		before = c
	}
	if before == '.' { // at the end, or the key is empty
		return fmt.Errorf("%w %q", ErrInvalidKey, key)
	}
	return nil
}

// check refuses keys that cannot be written.
func (op *Write) check() error {
	if op.Guard != nil {
		if err := op.Guard.check(); err != nil {
			return err
		}
	}
	return checkKey(op.Key)
}

func (g *Guard) check() error {
	if err := checkKey(strings.TrimSuffix(g.Key, ".*")); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	return nil
}

// subject is where the write is published.
func (op *Write) subject(at place) string { return at.reach.Publish(at.prefix + op.Key) }

// letter is the message of one write at a time. The connection keeps nothing of it, so it is used
// again for the next one. The values of its header lie side by side in one piece of memory.
type letter struct {
	nats.Msg
	values []string
}

func (l *letter) set(name, value string) {
	n := len(l.values)
	l.values = append(l.values, value)
	l.Header[name] = l.values[n : n+1 : n+1]
}

// begin makes it the publish of a write, without conditions.
func (l *letter) begin(op *Write, at place) {
	h := l.Header
	if clear(h); h == nil {
		h = make(nats.Header, 8)
	}
	l.Msg, l.values = nats.Msg{Subject: op.subject(at), Header: h, Data: op.Value}, l.values[:0]
	if at.bucket != "" { // the subjects of a deleted bucket can become those of another stream
		l.set(headerStream, at.stream)
	}
	switch {
	case op.Delete && op.TTL == 0:
		l.set(headerOperation, "DEL")
		return
	case op.Delete:
		l.set(headerOperation, "PURGE") // the server writes a marker of its own when another one expires
	default:
		for _, f := range op.Header {
			l.set(f.Name, f.Value)
		}
	}
	if op.TTL > 0 {
		seconds := (op.TTL + time.Second - 1) / time.Second
		l.set(headerTTL, strconv.FormatInt(int64(seconds), 10))
	}
}

// condition adds the condition of a write. The server checks it and stores the record, as one step.
func (l *letter) condition(op *Write, at place) {
	expect := op.Expect
	if op.Guard != nil {
		expect = op.Guard.Revision
		l.set(headerExpectOnSubject, at.prefix+op.Guard.Key)
	}
	l.set(headerExpect, strconv.FormatUint(expect, 10))
}

// end lets go of all records that it has been used for.
func (l *letter) end() {
	clear(l.values[:cap(l.values)])
	clear(l.Header)
	l.Msg = nats.Msg{Header: l.Header}
}

// pubAck is the server's answer to a publish.
type pubAck struct {
	Error  *jetstream.APIError `json:"error"`
	Stream string              `json:"stream"`
	Domain string              `json:"domain"`
	Seq    uint64              `json:"seq"`
	Count  int                 `json:"count"` // of a batch
}

// outcome reads the server's answer to a write. An answer that is not clearly an acknowledgement or
// a refusal is Unknown. So is 10164: on a replicated stream it is a conflict with a write in
// flight, which may be our own.
func outcome(at place, data []byte) Result {
	if revision, ok := plainAck(at, data); ok {
		return Result{Outcome: Won, Revision: revision}
	}
	var ack pubAck
	if err := json.Unmarshal(data, &ack); err != nil {
		return Result{Err: fmt.Errorf("decode acknowledgement: %w", err)}
	}
	switch {
	case ack.Error != nil && ack.Error.ErrorCode == codeWrongLastRevision:
		return Result{Outcome: Refused, Err: fmt.Errorf("%w (%s)", ErrRefused, ack.Error.Description)}
	case ack.Error != nil:
		return Result{Err: fromAPI(at, ack.Error)}
	case ack.Stream != at.stream || ack.Seq == 0:
		return Result{Err: fmt.Errorf("not an acknowledgement of stream %s: %.100q", at.stream, data)}
	case ack.Domain != at.domain:
		return Result{Err: fmt.Errorf("%w: %s was opened in domain %q, and domain %.100q has acknowledged",
			ErrOtherBucket, at, at.domain, ack.Domain)}
	}
	return Result{Outcome: Won, Revision: ack.Seq}
}

// plainAck reads the usual acknowledgement, {"stream":"S","seq":N} or, of a domain,
// {"stream":"S","domain":"D","seq":N}, at a tenth of the cost. It leaves anything else to the JSON
// decoder.
func plainAck(at place, data []byte) (revision uint64, ok bool) {
	rest, found := bytes.CutPrefix(data, []byte(`{"stream":"`))
	if !found || !bytes.HasPrefix(rest, []byte(at.stream)) {
		return 0, false
	}
	rest = rest[len(at.stream):]
	if at.domain != "" {
		if rest, found = bytes.CutPrefix(rest, []byte(`","domain":"`)); !found || !bytes.HasPrefix(rest, []byte(at.domain)) {
			return 0, false
		}
		rest = rest[len(at.domain):]
	}
	rest, found = bytes.CutPrefix(rest, []byte(`","seq":`))
	if !found || len(rest) == 0 || rest[0] == '0' || rest[len(rest)-1] != '}' { // JSON has no number that begins with 0
		return 0, false
	}
	revision, err := strconv.ParseUint(string(rest[:len(rest)-1]), 10, 64)
	return revision, err == nil && revision > 0
}

// IsNoResponders reports whether the server itself answered, because nobody listens (ADR-22 of
// NATS).
func IsNoResponders(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Header.Get("Status") == "503"
}
