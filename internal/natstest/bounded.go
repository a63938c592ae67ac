package natstest

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// RequireBytes has the account of a running server require a bound for each stream, of most bytes
// at most.
func RequireBytes(tb testing.TB, s *natsrun.Server, most int64) {
	tb.Helper()
	limits := map[string]server.JetStreamAccountLimits{"": {
		MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1,
		MemoryMaxStreamBytes: most, StoreMaxStreamBytes: most, MaxBytesRequired: true,
	}}
	if err := s.Running().GlobalAccount().UpdateJetStreamLimits(limits); err != nil {
		tb.Fatal(err)
	}
}
