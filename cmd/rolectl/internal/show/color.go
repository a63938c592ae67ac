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

// Colors are what --color takes.
var Colors = []string{"auto", "always", "never"}

// WantsColor reports whether output to f may have colours. With auto that is on a terminal, unless
// NO_COLOR is set: https://no-color.org.
func WantsColor(f *os.File, when string, env func(name string) string) bool {
	if when != "auto" {
		return when == "always"
	}
	return env("NO_COLOR") == "" && env("TERM") != "dumb" && IsTerminal(f)
}

// Paint colours text, if colours are wanted.
func (p Printer) Paint(t Tone, text string) string {
	if !p.Color || t == Plain {
		return text
	}
	return paint[t] + text + "\x1b[0m"
}

// Columns is the width of a terminal, 0 if f is not one.
func Columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 0
}
