package cli

import (
	"regexp"
	"strings"
)

// packages matches the names of Go packages that begin errors, and parts of them.
var packages = regexp.MustCompile(`(^|: |\n)(?:(?:assign|election|fencing|nats|natskv|natsrun|observe|roles): )+`)

// Plain returns the text of an error for people: without the names of the Go packages that the
// error has passed through.
func Plain(err error) string {
	text := packages.ReplaceAllString(err.Error(), "$1")
	return strings.ReplaceAll(text, "open bucket: bucket ", "bucket ")
}
