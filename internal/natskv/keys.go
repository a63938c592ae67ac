package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Keys lists the keys that match filter (a key with wildcards), as one server knows them, including
// those that hold a marker. In a cluster that server may lag. The list holds every such key that
// existed at the revision at, and perhaps later ones. Keys needs only the permission to ask for the
// stream.
//
// A watch cannot give that list: a record that is overwritten while a snapshot is being sent is
// left out at its old position and comes again at its new one, which may be after the end of the
// snapshot.
func (b *Bucket) Keys(ctx context.Context, filter string) (keys []string, at uint64, err error) {
	js, err := b.reach.JetStream(b.nc)
	if err != nil {
		return nil, 0, fmt.Errorf("list keys: %w", err)
	}
	stream, err := js.Stream(ctx, b.Stream())
	if err != nil {
		return nil, 0, fmt.Errorf("list keys: %w", err)
	}
	at = stream.CachedInfo().State.LastSeq // asked before the list, so the list is not older
	prefix := keyPrefix(b.name)
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(prefix+filter))
	if err != nil {
		return nil, 0, fmt.Errorf("list keys: %w", err)
	}
	for subject := range info.State.Subjects {
		keys = append(keys, subject[len(prefix):])
	}
	return keys, min(at, info.State.LastSeq), nil
}
