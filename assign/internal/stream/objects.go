package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// objectSlack is how much longer than LargeRetention an object is kept. The object is stored before
// its outcome, and the outcome's time begins when a scheduler has committed it.
const objectSlack = time.Hour

// ObjectBucket is the object store of a namespace.
func ObjectBucket(namespace string) string { return Name(namespace) }

// Objects is the object store of a namespace as it is.
type Objects struct {
	Name string
	// Retention is how long a large output can be read after its task has ended, 0 for ever.
	Retention time.Duration
	Replicas  int
	Storage   jetstream.StorageType
}

// OpenObjects opens the object store of a namespace, or creates it if AutoCreate is set, and waits
// until its leader answers. The library asks a store each question only once, and a store that is
// being created may drop the question.
func OpenObjects(ctx context.Context, nc *nats.Conn, cfg Options) (jetstream.ObjectStore, Objects, error) {
	bucket := ObjectBucket(cfg.Namespace)
	o := Objects{Name: bucket}
	failed := func(err error) (jetstream.ObjectStore, Objects, error) {
		return nil, o, fmt.Errorf("assign: open the object store %s: %w", bucket, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, o, fmt.Errorf("assign: %w", err)
	}
	stream, err := openObjectStream(ctx, nc, bucket, cfg)
	if errors.Is(err, natskv.ErrBucketNotFound) && !cfg.AutoCreate {
		return nil, o, fmt.Errorf("%w: %s", taskerr.ErrObjectsNotFound, bucket)
	}
	if err != nil {
		return failed(err)
	}
	if err := stream.AwaitLeader(ctx, nc); err != nil {
		return failed(err)
	}
	store, err := js.ObjectStore(ctx, bucket)
	if err != nil {
		return failed(err)
	}
	status, err := store.Status(ctx)
	if err != nil {
		return failed(err)
	}
	o.Replicas, o.Storage = status.Replicas(), status.Storage()
	if ttl := status.TTL(); ttl > 0 {
		o.Retention = max(ttl-objectSlack, 1) // 1 ns: less than any outcome is kept
	}
	return store, o, nil
}

// openObjectStream opens the stream of an object store, or creates it if AutoCreate is set.
func openObjectStream(ctx context.Context, nc *nats.Conn, bucket string, cfg Options) (*natskv.Stream, error) {
	prefix, stream := "$O."+bucket+".C.", objectStream(bucket, cfg)
	if cfg.AutoCreate {
		return natskv.CreateStream(ctx, nc, prefix, stream, objectFaults)
	}
	return natskv.OpenStream(ctx, nc, prefix, stream.Name, objectFaults)
}

// objectFaults are the faults of the stream of an object store.
func objectFaults(s *jetstream.StreamInfo) []string {
	if s.Config.AllowDirect {
		return []string{"direct gets are on, so a client that may store an object can forge any record of the account: set " +
			"allow_direct to false"}
	}
	return nil
}

// objectStream is the stream of an object store as the jetstream package makes it (ADR-20 of NATS),
// but without direct gets. The answer to a direct get is the bare message, sent to any subject that
// the request names. So a client that may store an object could have the object stored as
// somebody's record.
func objectStream(bucket string, cfg Options) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:     "OBJ_" + bucket,
		Subjects: []string{"$O." + bucket + ".C.>", "$O." + bucket + ".M.>"},
		MaxAge:   cfg.LargeRetention + objectSlack,
		Storage:  cfg.Storage,
		Replicas: cfg.Replicas,
		MaxBytes: cmp.Or(cfg.MaxBytes, -1),
		// A reader of a large output has a consumer for a moment.
		MaxConsumers: natskv.MaxConsumers,
		Discard:      jetstream.DiscardNew,
		AllowRollup:  true,
	}
}
