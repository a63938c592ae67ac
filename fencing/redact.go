package fencing

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// These methods print a value where nobody has asked for its secret. All of them leave the id out.
// A zap field made with zap.Any or zap.Reflect uses MarshalJSON.
var (
	_ fmt.Formatter  = Token{}
	_ fmt.GoStringer = Token{}
	_ json.Marshaler = Token{}
	_ slog.LogValuer = Token{}
)

// String returns role@epoch, or role@epoch.seq, and the holder. The id is not in it.
func (t Token) String() string {
	if t.IsZero() {
		return "no token"
	}
	s := t.Role + "@" + strconv.FormatUint(t.Epoch, 10)
	if t.Seq != 0 {
		s += "." + strconv.FormatUint(uint64(t.Seq), 10)
	}
	if t.Holder != "" {
		s += " held by " + t.Holder
	}
	return s
}

// GoString returns the fields; the id is not in it.
func (t Token) GoString() string {
	id := "none"
	if t.id != nil {
		id = "redacted"
	}
	return fmt.Sprintf("fencing.Token{Role:%q, Holder:%q, Epoch:%d, Seq:%d, id:%s}", t.Role, t.Holder, t.Epoch, t.Seq, id)
}

// Format prints t for every verb without its id: %+v and %#v as [Token.GoString], %q as a quoted
// string, all others as [Token.String].
func (t Token) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && (f.Flag('+') || f.Flag('#')):
		_, _ = io.WriteString(f, t.GoString()) // a fmt.State keeps its own errors
	case verb == 'q':
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, 'q'), t.String())
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, 's'), t.String())
	}
}

// MarshalText returns [Token.String]. It is for logs and cannot be read back; use [Token.Encode]
// for that.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON returns role, holder, epoch and seq. It is for logs and status pages; the id is not
// in it.
func (t Token) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Role   string `json:"role"`
		Holder string `json:"holder"`
		Epoch  uint64 `json:"epoch"`
		Seq    uint32 `json:"seq,omitempty"`
	}{t.Role, t.Holder, t.Epoch, t.Seq})
}

// LogValue returns role, holder, epoch and seq as a group.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(slog.String("role", t.Role), slog.String("holder", t.Holder),
		slog.Uint64("epoch", t.Epoch), slog.Uint64("seq", uint64(t.Seq)))
}
