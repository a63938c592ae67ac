package wording

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "-", 0: "0s", 999: "999ns", 1234: "1.2µs", 123456: "123.5µs", 12345678: "12.3ms", 1234567890: "1.23s",
		59 * time.Second: "59s", time.Minute: "1m", 61 * time.Second: "1m1s", 2 * time.Hour: "2h", 150 * time.Minute: "2h30m",
		47 * time.Hour: "47h", 49 * time.Hour: "2d1h", 1000 * time.Hour: "41d16h",
	} {
		if got := Age(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä": "plain ä", "a\x1b[31mb": "a?[31mb", "a\nb\tc\r": "a?b?c?", "\u202etxt.exe": "?txt.exe", "\xff": "?",
		"\u009b1m": "?1m",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := CleanLines("a\n- b\x1b"); got != "a\n- b?" {
		t.Errorf("lines: %q", got)
	}
}
