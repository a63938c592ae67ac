package stream

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// ReadChunks reads the bytes of an object and compares their digest. It uses a watch, because the
// library (nats.go 1.55) has two faults. When the connection is lost, for any cause, the library
// waits for the end of ctx. When the answer to its subscription is lost, it leaves a goroutine
// behind that holds a chunk for ever. Missing chunks are jetstream.ErrObjectNotFound, because the
// replica that has answered may lag.
func ReadChunks(ctx context.Context, nc *nats.Conn, info *jetstream.ObjectInfo) ([]byte, error) {
	fits := func(*jetstream.StreamInfo) []string { return nil } // the library has opened it
	stream, err := natskv.OpenStream(ctx, nc, "$O."+info.Bucket+".C.", "OBJ_"+info.Bucket, fits)
	if err != nil {
		return nil, err
	}
	w, err := stream.Watch(ctx, nc, info.NUID, 1)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var data []byte
	for whole := false; !whole; {
		select {
		case u, ok := <-w.C():
			if !ok {
				return nil, w.Err()
			}
			for i := range u.Entries {
				data = append(data, u.Entries[i].Value...)
			}
			whole = uint64(len(data)) >= info.Size
			if u.Snapshot && !whole {
				return nil, fmt.Errorf("%w: %d of its %d bytes are there", jetstream.ErrObjectNotFound, len(data), info.Size)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	digest := sha256.New()
	digest.Write(data)
	if uint64(len(data)) != info.Size || jetstream.GetObjectDigestValue(digest) != info.Digest {
		return nil, fmt.Errorf("%w: object %s: %d bytes were read, and %d were stored with another digest", record.ErrRecord,
			info.Name, len(data), info.Size)
	}
	return data, nil
}
