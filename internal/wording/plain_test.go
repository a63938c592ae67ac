package wording

import (
	"errors"
	"slices"
	"testing"
)

// TestPlain: an error for people names no Go package, and keeps everything else.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"election: stepped down":                                 "stepped down",
		"observe: election: open bucket: bucket \"x\" not found": "bucket \"x\" not found",
		"lost: election: nats: timeout":                          "lost: timeout",
		"first\nassign: second":                                  "first\nsecond",
		"connect to nats://127.0.0.1:1: refused":                 "connect to nats://127.0.0.1:1: refused",
		"--key-file: x: keyring: not a valid key":                "--key-file: x: not a valid key",
		"no answer (nats: timeout)":                              "no answer (timeout)",
		"tls: failed to verify certificate: x509: it is old":     "failed to verify certificate: it is old",
		"no role in bucket roles: there are a":                   "no role in bucket roles: there are a",
	} {
		if got := Plain(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestPlainArgs: errors among the arguments of a message are plain, and its other arguments are not
// touched.
func TestPlainArgs(t *testing.T) {
	err := errors.New("guard: too late")
	args := []any{"guard: x", 7, err, nil}
	if got := PlainArgs(args); !slices.Equal(got, []any{"guard: x", 7, "too late", nil}) || args[2] != err {
		t.Errorf("%q", got)
	}
}
