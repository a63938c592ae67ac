package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckFair says what is wrong with a fair key, "" if nothing is.
func CheckFair(key string) string {
	switch {
	case len(key) > MaxFair:
		return fmt.Sprintf("a key of %d bytes: use at most %d", len(key), MaxFair)
	case !utf8.ValidString(key):
		return fmt.Sprintf("the key %q: use UTF-8, or an encoding such as base64", key)
	}
	return ""
}

// MaxKey bounds a unique, sticky or limit key and a traceparent, in bytes.
const MaxKey = 256

// CheckHeader says what is wrong with a header of a submission, "" when nothing is. Names and
// values are those that a NATS message, or an HTTP request, could have. Handlers pass them on, and
// there a line break in a value would add headers.
func CheckHeader(name, value string) string {
	switch {
	case name == "":
		return "the name is empty: name it"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }):
		return fmt.Sprintf("the name %.100q: use visible ASCII without spaces and colons", name)
	case !utf8.ValidString(value):
		return fmt.Sprintf("the value of %.100s is not UTF-8: use an encoding such as base64", name)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Sprintf(
			"the value of %.100s, %.100q, has line breaks or control characters: encode it, as JSON or base64, or make it "+
				"part of the input", name, value)
	}
	return ""
}

// CheckTraceParent says what is wrong with a traceparent (W3C Trace Context, 3.2), "" when nothing
// is. A receiver would drop a wrong one, and the trace would end there without a sign. A later
// version may have more at its end.
func CheckTraceParent(t string) string {
	const (
		version = 2
		parent  = version + 1 + 32 + 1
		whole   = parent + 16 + 1 + 2
	)
	hex := func(s string) bool {
		return strings.Trim(s, "0123456789abcdef") == ""
	}
	zero := func(s string) bool { return strings.Trim(s, "0") == "" }
	switch {
	case len(t) > MaxKey:
		return fmt.Sprintf("%d bytes: use at most %d", len(t), MaxKey)
	case len(t) < whole || t[version] != '-' || t[parent-1] != '-' || t[whole-3] != '-' ||
		len(t) > whole && (t[:version] == "00" || t[whole] != '-'),
		!hex(t[:version]) || !hex(t[version+1:parent-1]) || !hex(t[parent:whole-3]) || !hex(t[whole-2:whole]),
		t[:version] == "ff", CheckHeader("traceparent", t) != "":
		return fmt.Sprintf(
			"%.100q is not a traceparent: use that of a span, 00-<32 hex digits>-<16>-<2> in lower case, or leave it out", t)
	case zero(t[version+1 : parent-1]), zero(t[parent : whole-3]):
		return fmt.Sprintf("%.100q names no span, because its ids are zero: use the traceparent of a span, or leave it out",
			t)
	}
	return ""
}

// HeadersOf reads the submitter's headers, nil if they are not of version 1.
func HeadersOf(text string) (headers map[string]string) {
	if text == "" || json.Unmarshal([]byte(text), &headers) != nil {
		return nil
	}
	return headers
}

func First(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
