package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Keys lists the keys that match filter (a key with wildcards), those that hold a marker included, as one server knows
// them. On a cluster that server may lag; the list holds every such key that existed at the revision at, and perhaps
// later ones. It needs no permission but that to ask for the stream.
//
// A watch cannot tell as much: a record that is overwritten while a snapshot is being sent is left out at its old place
// and comes again at its new one, which may be after the end of the snapshot.
func (b *Bucket) Keys(ctx context.Context, filter string) (keys []string, at uint64, err error) {
	js, err := jetstream.New(b.nc)
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
