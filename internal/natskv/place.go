package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Store is where a [Writer] writes: a [Bucket] or a [Stream].
type Store interface {
	place() place
	// Identify asks which store of this name answers on nc now. Errors: also OtherBucketError.
	Identify(ctx context.Context, nc *nats.Conn) error
	// identify is Identify, and returns the identity that was found.
	identify(ctx context.Context, nc *nats.Conn) (Identity, error)
	// identified returns the connection on which the identity was read, and its number there.
	identified() (nc *nats.Conn, on uint64)
}

// place tells where records are: in which stream, and with which prefix before their keys.
type place struct {
	stream, prefix string
	bucket         string // "" for a plain stream
	reach          Reach
	domain         string // of a store that was opened: each acknowledgement names it
}

func bucketPlace(bucket string, reach Reach) place {
	return place{stream: streamName(bucket), prefix: keyPrefix(bucket), bucket: bucket, reach: reach}
}

func (b *Bucket) place() place {
	at := bucketPlace(b.name, b.reach)
	at.domain = b.identity.Domain
	return at
}

// api is the subject of a request about the stream, such as "STREAM.INFO".
func (p place) api(request string) string { return p.reach.API(request + "." + p.stream) }

// kind is the word for what is there.
func (p place) kind() string {
	if p.bucket != "" {
		return "bucket"
	}
	return "stream"
}

func (p place) String() string {
	if p.bucket != "" {
		return fmt.Sprintf("bucket %q", p.bucket)
	}
	return fmt.Sprintf("stream %q", p.stream)
}

func (p place) notFound() error {
	if p.bucket != "" {
		return &NotFoundError{Bucket: p.bucket, Reach: p.reach}
	}
	return &NotFoundError{Stream: p.stream, Reach: p.reach}
}
