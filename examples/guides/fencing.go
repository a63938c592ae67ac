package guides

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
)

// invoice writes the number of the next invoice. Once a later term has opened the store, the server
// refuses this write.
func invoice(ctx context.Context, js jetstream.JetStream, t *election.Term) (n int, err error) {
	store, err := fencing.OpenStore(ctx, js, "invoices", t.Token(), fencing.WithCreate(1))
	if err != nil {
		return 0, err
	}
	last, err := store.Latest(ctx, "last") // sees every write of earlier terms
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, err
	}
	if err == nil {
		if n, err = strconv.Atoi(string(last.Value)); err != nil {
			return 0, err
		}
	}
	_, err = store.Put(ctx, "last", []byte(strconv.Itoa(n+1)))
	return n + 1, err
}

// announce writes where the leader can be reached, beside the records of the roles. The server
// refuses this write when the term is over.
func announce(ctx context.Context, js jetstream.JetStream, t *election.Term, address string) error {
	m := &nats.Msg{Subject: "$KV.roles.address." + t.Role(), Data: []byte(address)}
	_, err := fencing.Publish(ctx, js, m, "roles", t.Token())
	return err // ErrStale: the term is over
}
