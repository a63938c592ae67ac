package cli

import (
	"errors"
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
		"no role in bucket roles: there are a":                   "no role in bucket roles: there are a",
	} {
		if got := Plain(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
