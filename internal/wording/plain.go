package wording

import (
	"regexp"
	"strings"
)

// Packages are the packages of this module whose errors begin with their name. A test of the
// architecture compares them with the sources.
var Packages = []string{
	"assign", "controllerruntime", "dashboard", "discovery", "election", "fencing", "guard", "keyring", "kube",
	"metrics", "natsrun", "protocol", "roles",
}

// others are packages that errors of ours may wrap.
var others = []string{"json", "jwt", "nats", "net/http", "nkeys", "observe", "tls", "x509"}

var prefixes = regexp.MustCompile(`(^|: |\n|\()(?:(?:` +
	strings.Join(Packages, "|") + "|" + strings.Join(others, "|") + `): )+`)

// Plain returns the text of an error for people: without the names of the Go packages that the
// error has passed through.
func Plain(err error) string {
	text := prefixes.ReplaceAllString(err.Error(), "$1")
	return strings.ReplaceAll(text, "open bucket: bucket ", "bucket ")
}

// PlainArgs are arguments of a format, with the plain text of each error in its place.
func PlainArgs(args []any) []any {
	all := make([]any, len(args))
	for i, arg := range args {
		if err, ok := arg.(error); ok && err != nil {
			arg = Plain(err)
		}
		all[i] = arg
	}
	return all
}
