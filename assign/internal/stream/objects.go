package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// objectSlack is how much longer than LargeRetention an object is kept. The object is stored before
// its outcome, and the outcome's time begins when a scheduler has committed it.
const objectSlack = time.Hour

// Objects is the object store of a namespace as it is.
type Objects struct {
	Name string // of its stream
	// Retention is how long a large output can be read after its task has ended, 0 for ever.
	Retention time.Duration
	Replicas  int
	Storage   jetstream.StorageType
}

// ObjectStore is an object store that was opened. See chunks.go for what it does.
type ObjectStore struct {
	Objects
	nc     *nats.Conn
	stream *natskv.Stream
	timed  bool // a record may have a time limit of its own
}

// OpenObjects opens the object store of a namespace, or creates it if AutoCreate is set, and waits
// until its leader answers. Errors: taskerr.ErrObjectsNotFound, and those of Open.
func OpenObjects(ctx context.Context, nc *nats.Conn, cfg Options) (*ObjectStore, error) {
	want := objectStream(cfg)
	o := &ObjectStore{Objects: Objects{Name: want.Name}, nc: nc}
	examine := func(info *jetstream.StreamInfo) []string {
		o.Replicas, o.Storage, o.timed = info.Config.Replicas, info.Config.Storage, info.Config.AllowMsgTTL
		if age := info.Config.MaxAge; age > 0 {
			o.Retention = max(age-objectSlack, 1) // 1 ns: less than any outcome is kept
		}
		return objectFaults(cfg, info)
	}
	prefix := record.Stored(want.Name)
	var err error
	o.stream, err = cfg.Reach.OpenStream(ctx, nc, prefix, want.Name, examine)
	if errors.Is(err, natskv.ErrBucketNotFound) {
		if !cfg.AutoCreate {
			return nil, fmt.Errorf("%w: %s", taskerr.ErrObjectsNotFound, want.Name)
		}
		if err = cfg.mayCreate(ctx, nc, want.Name); err == nil {
			o.stream, err = cfg.Reach.CreateStream(ctx, nc, prefix, want, examine)
		}
	}
	if err == nil {
		err = o.stream.AwaitLeader(ctx, nc)
	}
	if err != nil {
		return nil, fmt.Errorf("assign: open the object store: %w", err)
	}
	return o, nil
}

// objectFaults are the faults of the stream of an object store.
func objectFaults(cfg Options, s *jetstream.StreamInfo) (faults []string) {
	want := objectStream(cfg)
	if s.Config.Metadata[metaFormat] != formatVersion || !slices.Equal(s.Config.Subjects, want.Subjects) {
		return []string{"its objects have a format of another version: " + replacement(cfg, want.Name)}
	}
	if s.Config.AllowDirect {
		faults = append(faults, "direct gets are on, so a client that may store an object can forge any record of the "+
			"account: set allow_direct to false")
	}
	return faults
}

// objectStream is the stream of an object store. It has no direct gets, because the answer to a
// direct get is the bare message, sent to any subject that the request names. So a client that may
// store an object could have the object stored as somebody's record.
func objectStream(cfg Options) jetstream.StreamConfig {
	name := record.ObjectsName(cfg.Namespace)
	return jetstream.StreamConfig{
		Name:     name,
		Subjects: []string{record.Stored(name) + ">"},
		MaxAge:   cfg.LargeRetention + objectSlack,
		Storage:  cfg.Storage,
		Replicas: cfg.Replicas,
		MaxBytes: cmp.Or(cfg.MaxBytes, -1),
		// A reader of a large output has a consumer for a moment.
		MaxConsumers:      natskv.MaxConsumers,
		MaxMsgsPerSubject: 1,
		AllowMsgTTL:       true, // what is left of a removed chunk leaves soon; stores of earlier versions keep it
		Discard:           jetstream.DiscardNew,
		Metadata:          map[string]string{metaFormat: formatVersion},
	}
}
