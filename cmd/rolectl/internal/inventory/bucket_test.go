package inventory

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// newBucket makes the bucket roles, whose records a test writes as it likes.
func newBucket(t *testing.T, nc *nats.Conn) jetstream.KeyValue {
	t.Helper()
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "roles")
	if err != nil {
		t.Fatal(err)
	}
	return kv
}
