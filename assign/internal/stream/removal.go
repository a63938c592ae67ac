package stream

import (
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	// removedFor is how long an empty record keeps a late chunk from being stored.
	removedFor = time.Minute
	// neverWritten is a key that no object has, for the condition of a removal: it always holds.
	neverWritten = "removed"
)

// Chunks returns the keys of chunks, sorted: at most natskv.KeyPage, after the first so many. Some
// may be of chunks that were just removed. See natskv.Stream.Keys for the errors.
func (o *ObjectStore) Chunks(ctx context.Context, skip int) ([]string, error) {
	return o.stream.Keys(ctx, o.nc, skip)
}

// Remove replaces chunks by empty records, which leave soon. It needs no right that who stores
// objects does not have: no purge. It returns how many it has removed, those in front.
func (o *ObjectStore) Remove(ctx context.Context, keys []string) (int, error) {
	writer, err := natskv.NewWriter(o.nc, o.stream)
	if err != nil {
		return 0, err
	}
	defer writer.Stop()
	for i, key := range keys {
		// one after the other, because a store on replicas takes one write of a guard at a time
		op := natskv.Write{Key: key, Delete: true, Guard: &natskv.Guard{Key: neverWritten}}
		if o.timed {
			op.TTL = removedFor
		}
		answered := make(chan natskv.Result, 1)
		writer.Submit(op, chunkWithin, func(r natskv.Result) { answered <- r })
		select {
		case r := <-answered:
			if r.Err != nil {
				return i, fmt.Errorf("remove chunk %s: %w", key, r.Err)
			}
		case <-ctx.Done():
			return i, ctx.Err()
		}
	}
	return len(keys), nil
}
