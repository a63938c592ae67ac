package natskv

import (
	"errors"
	"regexp"

	"github.com/nats-io/nats.go"
)

// permissionText is how the server words its complaint (nats-server, sendErr in client.go). nats.go keeps the text.
var permissionText = regexp.MustCompile(`Permissions Violation for (Publish|Subscription) to "([^"]+)"`)

// deniedIn reads the subject out of what Conn.LastError returned, nil when it is something else. LastError keeps old
// errors: compare with the value read before to tell a new complaint. Every complaint is a value of its own.
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

// Denied is what the server has complained of when err is what Conn.LastError returned, nil when that is something else.
func Denied(err error) *PermissionError { return deniedIn(err) }
