package record

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// append encodes the record. It is written for every task, and the encoder of encoding/json takes
// five times as long.
func (o *Fields) append(b []byte) []byte {
	text := func(name, value string) {
		if value != "" {
			b = appendJSON(append(append(append(b, `,"`...), name...), `":`...), value)
		}
	}
	number := func(name string, value int64) {
		if value != 0 {
			b = strconv.AppendInt(append(append(append(b, `,"`...), name...), `":`...), value, 10)
		}
	}
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(o.Version), 10)
	text("kind", o.Kind)
	text("status", string(o.Status))
	text("cause", o.Cause)
	if o.Epoch != 0 {
		b = strconv.AppendUint(append(b, `,"epoch":`...), o.Epoch, 10)
	}
	number("attempt", int64(o.Attempt))
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(o.Attempts), 10)
	text("worker", o.Worker)
	number("ran_us", o.Ran)
	return append(b, '}')
}

// parse reads the text that append has written, for a client that waits for thousands of tasks. Any
// other text is left to the decoder of encoding/json, which takes ten times as long.
func (o *Fields) parse(s string) bool {
	ok := true
	cut := func(prefix string) (found bool) {
		s, found = strings.CutPrefix(s, prefix)
		return found
	}
	number := func() uint64 {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		v, err := strconv.ParseUint(s[:n], 10, 63)
		ok = ok && err == nil && (s[0] != '0' || n == 1)
		s = s[n:]
		return v
	}
	text := func() string {
		n := strings.IndexByte(s, '"')
		if n < 0 || !plain(s[:n]) {
			ok = false
			return ""
		}
		v := s[:n]
		s = s[n+1:]
		return v
	}
	if !cut(`{"v":`) {
		return false
	}
	o.Version = int(number())
	if cut(`,"kind":"`) {
		o.Kind = text()
	}
	if cut(`,"status":"`) {
		o.Status = tasks.Status(text())
	}
	if cut(`,"cause":"`) {
		o.Cause = text()
	}
	if cut(`,"epoch":`) {
		o.Epoch = number()
	}
	if cut(`,"attempt":`) {
		n := number()
		o.Attempt = uint32(n)
		ok = ok && n <= 1<<32-1
	}
	if cut(`,"attempts":`) {
		o.Attempts = int(number())
	}
	if cut(`,"worker":"`) {
		o.Worker = text()
	}
	if cut(`,"ran_us":`) {
		o.Ran = int64(number())
	}
	return ok && s == "}"
}

// plain reports whether a string needs no escapes in JSON.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendJSON appends a string. Names of kinds and instances need no escapes.
func appendJSON(b []byte, s string) []byte {
	if !plain(s) {
		quoted, err := json.Marshal(s)
		if err != nil {
			return append(b, `""`...) // a string can always be encoded
		}
		return append(b, quoted...)
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}

// Fields is the header of an outcome.
type Fields struct {
	Version  int          `json:"v"`
	Kind     string       `json:"kind"`
	Status   tasks.Status `json:"status"`
	Cause    string       `json:"cause,omitempty"`
	Epoch    uint64       `json:"epoch,omitempty"`
	Attempt  uint32       `json:"attempt,omitempty"`
	Attempts int          `json:"attempts"`
	Worker   string       `json:"worker,omitempty"`
	Ran      int64        `json:"ran_us,omitempty"`
}
