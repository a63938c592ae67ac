package record

import (
	"encoding/hex"
	"strings"
)

// A traceparent waits in the state for the outcome of its task, which carries it on. It takes 25
// bytes there: the ids of trace and parent, and the flags.

const (
	traceLength = len("00-") + 32 + len("-") + 16 + len("-") + 2 // of version 00 of W3C Trace Context
	traceBytes  = 16 + 8 + 1
)

// PackTrace packs a traceparent for the state, "" for none. A traceparent of another form goes to
// the handler and no further.
func PackTrace(text string) string {
	if len(text) != traceLength || !strings.HasPrefix(text, "00-") || text[35] != '-' || text[52] != '-' ||
		strings.ToLower(text) != text {
		return ""
	}
	packed, err := hex.DecodeString(text[3:35] + text[36:52] + text[53:])
	if err != nil {
		return ""
	}
	return string(packed)
}

// UnpackTrace returns the traceparent that PackTrace has packed.
func UnpackTrace(packed string) string {
	if len(packed) != traceBytes {
		return ""
	}
	t := hex.EncodeToString([]byte(packed))
	return "00-" + t[:32] + "-" + t[32:48] + "-" + t[48:]
}
