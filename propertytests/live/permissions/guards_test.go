package permissions_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/deadlease"
	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// guards ends the session of an instance as its guard does, which has not heard of the last beat.
func guards(t *testing.T, owner, guard *nats.Conn, instance string) {
	t.Helper()
	store, err := natskv.Open(t.Context(), owner, bucket)
	if err != nil {
		t.Fatal(err)
	}
	key := record.LeaseKey(record.Peer{Class: record.Candidate, Instance: instance})
	found, err := store.Get(t.Context(), owner, key)
	if err != nil {
		t.Fatal(err)
	}
	word, ok := ending.Said(key, found.Value, found.Marker, found.Revision-1)
	if !ok {
		t.Fatalf("no lease: %s", found.Value)
	}
	var book ending.Book
	if err := book.Hear(word); err != nil {
		t.Fatal(err)
	}
	b, err := deadlease.Open(t.Context(), guard, guardlink.Place{Bucket: bucket, ID: store.Identity().ID})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, e := range book.Ended() {
		if err := b.End(within(t, time.Minute), e); err != nil {
			t.Errorf("the guard ends the session of %s: %v", instance, err)
		}
	}
}
