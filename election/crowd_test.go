package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestMoreMembersThanTheServersDefault: every member has a consumer of the bucket's stream, and a
// server lets a stream have 1,000 by default; a bucket may have more.
func TestMoreMembersThanTheServersDefault(t *testing.T) {
	s := natstest.Server(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.JetStreamLimits.DefaultMaxConsumers = 2 }
	})
	for i := range 6 {
		open(t, s, instance(fmt.Sprint("p", i)))
	}
}

// TestNoRoomForAnotherMember: a member that the account's limit on consumers keeps out gets the
// reason while Open waits, and joins when there is room.
func TestNoRoomForAnotherMember(t *testing.T) {
	s := natstest.Server(t)
	err := s.Running().GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{
		"": {MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: 1, MaxAckPending: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := open(t, s, instance("first"))
	faults := make(chan event.Fault, 64)
	cfg := instance("second")
	cfg.Sinks = append(cfg.Sinks, event.SinkFunc(func(e event.Event) {
		if f, ok := e.(event.Fault); ok {
			select {
			case faults <- f:
			default:
			}
		}
	}))
	second := unopened(t, cfg)
	nc, opened := natstest.Connect(t, s), make(chan error, 1)
	go func() { opened <- second.Open(context.Background(), nc) }()
	f := receive(t, "a fault that says why", faults)
	if f.Doing != "watch bucket" || f.Attempts != 1 ||
		!strings.Contains(f.Err.Error(), "maximum consumers limit reached") {
		t.Errorf("%+v", f)
	}
	if err := first.Close(within(t, time.Minute)); err != nil && !errors.Is(err, election.ErrClosed) {
		t.Fatal(err)
	}
	if err := receive(t, "the second is in", opened); err != nil {
		t.Fatal(err)
	}
}
