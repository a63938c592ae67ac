package natskv

import "fmt"

// Store is where a [Writer] writes: a [Bucket] or a [Stream].
type Store interface{ place() place }

// place tells where records are: in which stream, and with which prefix before their keys.
type place struct {
	stream, prefix string
	bucket         string // "" for a plain stream
}

func bucketPlace(bucket string) place {
	return place{stream: streamName(bucket), prefix: keyPrefix(bucket), bucket: bucket}
}

func (b *Bucket) place() place { return bucketPlace(b.name) }

func (p place) String() string {
	if p.bucket != "" {
		return fmt.Sprintf("bucket %q", p.bucket)
	}
	return fmt.Sprintf("stream %q", p.stream)
}

func (p place) notFound() error {
	if p.bucket != "" {
		return &NotFoundError{Bucket: p.bucket}
	}
	return &NotFoundError{Stream: p.stream}
}
