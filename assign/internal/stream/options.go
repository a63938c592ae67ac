package stream

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Options say how a namespace's stream and object store are created. Package assign documents and
// checks the fields. There are no defaults here.
type Options struct {
	Namespace      string
	Reach          natskv.Reach // to the JetStream that keeps both
	ID             string       // of the stream that must be there, "" for any
	AutoCreate     bool         // a missing stream or object store is created
	Replicas       int
	Storage        jetstream.StorageType
	MaxBytes       int64 // 0 for no bound
	LargeRetention time.Duration
}
