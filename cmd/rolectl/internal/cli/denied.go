package cli

import (
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
)

// ErrDenied says that this user lacks a permission.
var ErrDenied = errors.New("permission denied")

// PublishDenied reports whether the last complaint of the server is that this user may not publish
// to a subject.
func PublishDenied(nc *nats.Conn, subject string) bool {
	last := nc.LastError()
	return errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), `"`+subject+`"`)
}
