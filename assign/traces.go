package assign

import (
	"encoding/hex"
	"strings"
)

// traces keeps the traceparents of open tasks until their outcomes are stored, which carry them on: 25 bytes each, for
// those tasks that have one.
type traces map[string]traceparent // by task

// traceparent is one of version 00 of W3C Trace Context: the ids of trace and parent, and the flags.
type traceparent [16 + 8 + 1]byte

const traceLength = len("00-") + 32 + len("-") + 16 + len("-") + 2

// keep notes a task's traceparent. One of another form goes to the handler and no further.
func (s traces) keep(task, text string) {
	delete(s, task)
	if len(text) != traceLength || !strings.HasPrefix(text, "00-") || text[35] != '-' || text[52] != '-' || strings.ToLower(text) != text {
		return
	}
	var t traceparent
	for _, part := range []struct {
		to   []byte
		from string
	}{{t[:16], text[3:35]}, {t[16:24], text[36:52]}, {t[24:], text[53:]}} {
		if _, err := hex.Decode(part.to, []byte(part.from)); err != nil {
			return
		}
	}
	s[task] = t
}

// of is a task's traceparent, "" for none.
func (s traces) of(task string) string {
	if len(s) == 0 {
		return ""
	}
	t, ok := s[task]
	if !ok {
		return ""
	}
	return "00-" + hex.EncodeToString(t[:16]) + "-" + hex.EncodeToString(t[16:24]) + "-" + hex.EncodeToString(t[24:])
}
