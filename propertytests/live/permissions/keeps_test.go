package permissions_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/fencing"
)

// keeps does everything with a fenced store that can be done, and reads it with another client.
func keeps(t *testing.T, writer, reader *nats.Conn, token fencing.Token) {
	t.Helper()
	js, err := jetstream.New(writer)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, time.Minute)
	store, err := fencing.OpenStore(ctx, js, ledger, token)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	note := func(doing string, err error) {
		if err != nil {
			t.Errorf("%s: %v", doing, err)
		}
	}
	_, err = store.Put(ctx, "a", []byte("1"))
	note("put", err)
	revision, err := store.Create(ctx, "b", []byte("1"))
	note("create", err)
	_, err = store.Update(ctx, "b", []byte("2"), revision)
	note("update", err)
	_, err = store.Get(ctx, "b")
	note("get", err)
	_, err = store.Latest(ctx, "b")
	note("latest", err)
	keys, err := store.Keys(ctx)
	note("keys", err)
	if !slices.Equal(keys, []string{"a", "b"}) {
		t.Errorf("keys %v", keys)
	}
	for e, err := range store.Watch(ctx, "*") {
		note("watch", err)
		if e.Key == "" {
			break
		}
	}
	note("delete", store.Delete(ctx, "a"))

	if js, err = jetstream.New(reader); err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(ctx, ledger)
	if err != nil {
		t.Fatalf("open the store for reading: %v", err)
	}
	if e, err := kv.Get(ctx, "b"); err != nil || string(e.Value()) != "2" {
		t.Errorf("the reader reads %v, %v", e, err)
	}
}
