package propertytests_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := child(url, os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	natstest.Main(m, leftByServers...)
}

// leftByServers are goroutines that nats-server (2.15.2) does not end: a server that is shut down while it makes a stream's store,
// as happens in storms, leaves that store open, and what keeps its times.
var leftByServers = []goleak.Option{
	goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
	goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
}
