package show

import (
	"os"

	"golang.org/x/term"
)

// Tone is how good or bad a line is, shown as a colour.
type Tone uint8

// The tones, from nothing special to bad.
const (
	Plain Tone = iota
	Good
	Warning
	Bad
)

var paint = [...]string{"", "\x1b[32m", "\x1b[33m", "\x1b[31m"}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// WantsColor reports whether output to f may have colours: https://no-color.org.
func WantsColor(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(f)
}

// Paint colours text, if colours are wanted.
func (p Printer) Paint(t Tone, text string) string {
	if !p.Color || t == Plain {
		return text
	}
	return paint[t] + text + "\x1b[0m"
}
