package fencing

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAStoreInADomain: a store is opened, written, read and made stale from a leaf node, over the
// domain of the hub. Without the domain nothing is created on the leaf node.
func TestAStoreInADomain(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}}})
	nc := natstest.Connect(t, h.Leaf(0))
	plain, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), plain, "state", term(1), WithCreate(1)); !errors.Is(err, natskv.ErrNoDomain) {
		t.Errorf("without the domain: %v", err)
	}
	js, err := jetstream.NewWithDomain(nc, "hub")
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(t.Context(), js, "state", term(1), WithCreate(1))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Put(t.Context(), "k", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), "k", []byte("2"), first); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Latest(t.Context(), "k"); err != nil || string(e.Value) != "2" {
		t.Errorf("read %q, %v", e.Value, err)
	}
	atHub, err := jetstream.New(natstest.Connect(t, h.Server))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), atHub, "state", term(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "k", []byte("3")); !errors.As(err, new(*StaleError)) {
		t.Errorf("after a later term at the hub: %v", err)
	}
}
