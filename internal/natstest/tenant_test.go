package natstest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTenantsAreApart: a stream and messages of one are not those of another.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	one, two := natstest.Connect(t, natstest.Tenant(t)), natstest.Connect(t, natstest.Tenant(t))
	js, err := jetstream.New(one)
	if err != nil {
		t.Fatal(err)
	}
	cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s", nil); err != nil {
		t.Error(err)
	}
	there, err := jetstream.New(two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := there.Stream(t.Context(), "S"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream of another account: %v", err)
	}
	if _, err := two.Request("s", nil, 5*time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a subject of another account: %v", err)
	}
}
