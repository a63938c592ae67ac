package election

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// askedWithin bounds the round trip that finds out whether the server has denied something.
const askedWithin = 2 * time.Second

// denied finds out whether the server has denied us a subject. A denial looks like silence, but the
// server complains on the side, in order with its other answers: after a round trip the complaint
// is here. before is the connection's last error from before the attempt. It returns nil also when
// there was no round trip.
func denied(ctx context.Context, nc *nats.Conn, before error, subject string, subscribe bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askedWithin) // what ended ctx may be the silence itself
	defer cancel()
	if nc.FlushWithContext(ctx) != nil {
		return nil
	}
	last := nc.LastError()
	if last == before || !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`) {
		return nil
	}
	return &natskv.PermissionError{Subject: subject, Subscribe: subscribe}
}
