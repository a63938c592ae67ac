package guides

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// watchLeaders calls told for each change of leader. It needs read permissions only, and never
// takes part.
func watchLeaders(ctx context.Context, nc *nats.Conn, bucket string, told func(string)) error {
	o, err := election.Observe(ctx, nc, bucket)
	if err != nil {
		return err
	}
	defer o.Close()
	events := o.Events(ctx) // before Roles, so that no change is missed
	for _, r := range o.Roles() {
		told(fmt.Sprintf("%s is led by %q at epoch %d", r.Role, r.Leader, r.Epoch))
	}
	for e := range events {
		if c, ok := e.(event.LeaderChanged); ok {
			told(fmt.Sprintf("%s is led by %q at epoch %d", c.Role, c.Leader, c.Epoch))
		}
	}
	return o.Err()
}
