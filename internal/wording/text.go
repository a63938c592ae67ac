package wording

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Clean replaces characters that could steer a terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, s)
}

// CleanLines is Clean for a text of several lines.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// OneLine joins the lines of a text: suggestions of the flags library come on lines of their own.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// Age is a duration for people: three digits say enough.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "-"
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Hour:
		return trim(d.Round(time.Second).String())
	case d < 48*time.Hour:
		return trim(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"))
	}
	return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d/time.Hour%24)
}

func trim(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
