package roles_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestMain ignores what nats-server leaves behind if it is stopped while it takes part in a cluster
// and makes its replica of a stream: the store of that replica.
func TestMain(m *testing.M) {
	natstest.Halves(m,
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"))
}
