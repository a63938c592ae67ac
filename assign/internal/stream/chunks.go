package stream

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	// chunksAtOnce is how many chunks of an object are on their way at once.
	chunksAtOnce = 4
	// chunkWithin is how long the acknowledgement of a chunk may take.
	chunkWithin = time.Minute
)

// Put stores an object in chunks of at most size bytes. The name must be a new one: no chunk
// replaces another. After an error, a part of the object may be there until package upkeep removes
// it.
func (o *ObjectStore) Put(ctx context.Context, name string, data []byte, size int) (record.Object, error) {
	stored := record.Object{Name: name, Size: len(data), Digest: digest(data)}
	writer, err := natskv.NewWriter(o.nc, o.stream)
	if err != nil {
		return stored, err
	}
	defer writer.Stop()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	number := 0
	for chunk := range slices.Chunk(data, size) {
		op := natskv.Write{Key: name + "." + strconv.Itoa(number), Value: chunk}
		number++
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			answered := make(chan natskv.Result, 1)
			writer.Submit(op, chunkWithin, func(r natskv.Result) { answered <- r })
			select {
			case r := <-answered:
				return r.Err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	return stored, group.Wait()
}

// Read reads an object, and compares its size and its digest with those that the outcome names.
// Errors: natskv.ErrRecordNotFound if a part of it is missing, which may be because the replica
// that has answered lags; record.ErrRecord if it is another object.
func (o *ObjectStore) Read(ctx context.Context, at record.Object) ([]byte, error) {
	w, err := o.stream.Watch(ctx, o.nc, at.Name+".*", 0)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", at.Name, err)
	}
	defer w.Close()
	chunks, size := map[int][]byte{}, 0
	for whole := at.Size == 0; !whole; {
		select {
		case u, ok := <-w.C():
			if !ok {
				return nil, fmt.Errorf("read object %s: %w", at.Name, w.Err())
			}
			for i := range u.Entries {
				e := &u.Entries[i]
				number, err := strconv.Atoi(e.Key[len(at.Name)+1:])
				if err != nil {
					return nil, fmt.Errorf("%w: chunk %.100q of object %s", record.ErrRecord, e.Key, at.Name)
				}
				size += len(e.Value) - len(chunks[number])
				chunks[number] = e.Value
			}
			whole = size >= at.Size
			if u.Snapshot && !whole {
				return nil, fmt.Errorf("%w: object %s: %d of its %d bytes are there", natskv.ErrRecordNotFound, at.Name, size,
					at.Size)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	data := make([]byte, 0, size)
	for number := range len(chunks) {
		data = append(data, chunks[number]...)
	}
	if found := digest(data); len(data) != at.Size || found != at.Digest {
		return nil, fmt.Errorf("%w: object %s has %d bytes, %s; the outcome says %d, %s",
			record.ErrRecord, at.Name, len(data), found, at.Size, at.Digest)
	}
	return data, nil
}

// digest is the text of a digest, as in a Digest header.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "SHA-256=" + base64.URLEncoding.EncodeToString(sum[:])
}
