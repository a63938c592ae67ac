package natsrun_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// persistent are the options of a client that comes back as soon as the server is there again.
func persistent() []nats.Option {
	return []nats.Option{nats.ReconnectWait(10 * time.Millisecond), nats.MaxReconnects(-1)}
}

// newRecord stores a record that must outlive its server.
func newRecord(t *testing.T, js jetstream.JetStream) (kv jetstream.KeyValue, revision uint64) {
	t.Helper()
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b", Storage: jetstream.FileStorage})
	if err != nil {
		t.Fatal(err)
	}
	if revision, err = kv.Create(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	return kv, revision
}

// try is how long one question for a record may take: the server may be gone before it answers.
const try = 500 * time.Millisecond

// expectRecord waits until the record is read again, unchanged.
func expectRecord(t *testing.T, kv jetstream.KeyValue, revision uint64) {
	t.Helper()
	natstest.Eventually(t, "the record is read again", within, func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), try)
		defer cancel()
		e, err := kv.Get(ctx, "k")
		if err != nil {
			return false, err.Error()
		}
		seen := fmt.Sprintf("%q at %d, stored at %d", e.Value(), e.Revision(), revision)
		return string(e.Value()) == "v" && e.Revision() == revision, seen
	})
}
