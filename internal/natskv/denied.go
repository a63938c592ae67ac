package natskv

import (
	"errors"
	"regexp"

	"github.com/nats-io/nats.go"
)

// permissionText is the server's wording of its complaint (nats-server, sendErr in client.go).
// nats.go keeps the text.
var permissionText = regexp.MustCompile(`Permissions Violation for (Publish|Subscription) to "([^"]+)"`)

// deniedIn reads the subject from an error of Conn.LastError. It returns nil for any other error.
// LastError keeps old errors: a caller compares with the error that it read before to recognize a
// new complaint. Every complaint is a value of its own.
func deniedIn(err error) *PermissionError {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	m := permissionText.FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	return &PermissionError{Subject: m[2], Subscribe: m[1] == "Subscription"}
}

// Denied returns the server's complaint when err is what Conn.LastError returned. It returns nil
// for any other error.
func Denied(err error) *PermissionError { return deniedIn(err) }
