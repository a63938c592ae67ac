package natskv

import "fmt"

// Store is where a [Writer] writes: a [Bucket] or a [Stream].
type Store interface{ place() place }

// place tells where records are: in which stream, and with which prefix before their keys.
type place struct {
	stream, prefix string
	bucket         string // "" for a plain stream
	reach          Reach
	domain         string // of a bucket that was opened: each acknowledgement names it
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
	return &NotFoundError{Stream: p.stream}
}
