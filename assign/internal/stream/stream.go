package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	// formatVersion is the version of the subjects and records of a stream. Those of version 1 were
	// plain subjects, which the streams of all connected sites store.
	formatVersion = "2"
	metaFormat    = "rolemanager.tasks.format"
)

// streamConfig is the required configuration of the stream of a namespace.
func streamConfig(cfg Options) jetstream.StreamConfig {
	name := record.StreamName(cfg.Namespace)
	return jetstream.StreamConfig{
		Name:     name,
		Subjects: []string{record.Stored(name) + ">"},
		// The seal's revision fences writes. It starts at the time, so that revisions increase even
		// when the stream is deleted and recreated.
		FirstSeq:           uint64(time.Now().UnixMicro()),
		Retention:          jetstream.LimitsPolicy,
		Storage:            cfg.Storage,
		Replicas:           cfg.Replicas,
		MaxMsgsPerSubject:  1,
		MaxMsgs:            -1,
		MaxBytes:           cmp.Or(cfg.MaxBytes, -1),
		MaxMsgSize:         -1,
		MaxConsumers:       natskv.MaxConsumers,
		Discard:            jetstream.DiscardNew, // a full stream refuses submissions, it never drops them
		DenyDelete:         true,
		DenyPurge:          true, // a purge cannot be fenced
		AllowMsgTTL:        true,
		AllowAtomicPublish: true,
		Metadata:           map[string]string{metaFormat: formatVersion},
	}
}

// unfit says what keeps a stream from being used for a namespace.
func unfit(cfg Options) func(*jetstream.StreamInfo) []string {
	want := streamConfig(cfg)
	return func(info *jetstream.StreamInfo) (faults []string) {
		c := &info.Config
		switch v := c.Metadata[metaFormat]; {
		case earlier(info):
			return []string{"its records have format 1, of an earlier version: finish its tasks with that version, then " +
				replacement(cfg, c.Name)}
		case v != formatVersion:
			return []string{"its records have a format that this version does not know: upgrade this program"}
		}
		check := func(ok bool, fault string) {
			if !ok {
				faults = append(faults, fault)
			}
		}
		check(slices.Equal(c.Subjects, want.Subjects), fmt.Sprintf("its subjects are %v: make them %v", c.Subjects,
			want.Subjects))
		check(c.Retention == jetstream.LimitsPolicy, "its retention is not limits: recreate the stream")
		check(c.Mirror == nil && len(c.Sources) == 0 && c.SubjectTransform == nil && !c.Sealed && !c.NoAck,
			"it is a mirror, has sources or a transform, is sealed or does not acknowledge: recreate the stream")
		check(c.PersistMode == jetstream.DefaultPersistMode,
			"it acknowledges before it has stored (persist mode async): recreate the stream")
		check(c.MaxMsgsPerSubject == 1, "it keeps more than one record per task: set max_msgs_per_subject to 1")
		check(c.MaxMsgSize <= 0, "it limits the size of a message, and an outcome may be larger: set max_msg_size to -1")
		check(c.MaxAge == 0, "MaxAge removes tasks that are still open: set it to 0")
		check(c.Discard == jetstream.DiscardNew, "discard policy old drops tasks when it is full: set discard to new")
		check(!c.AllowDirect, "direct gets are on, and answer from replicas that lag: set allow_direct to false")
		check(c.AllowMsgTTL, "per-message TTLs are off: set allow_msg_ttl")
		check(c.AllowAtomicPublish, "atomic batches are off: set allow_atomic")
		if r := c.RePublish; r != nil {
			check(!strings.HasPrefix(r.Destination, record.SaidPrefix),
				fmt.Sprintf("it republishes to %s, where schedulers, workers and clients speak: "+
					"give it another destination, or none", r.Destination))
		}
		check(natskv.HasID(info), "it has no id: recreate the stream")
		return faults
	}
}

// earlier reports whether a stream has format 1, which was not always written down.
func earlier(info *jetstream.StreamInfo) bool {
	v := info.Config.Metadata[metaFormat]
	return v == "" || v == "1"
}

// replacement says how to replace a stream.
func replacement(cfg Options, name string) string {
	return fmt.Sprintf("delete it with \"nats stream rm %s\" and create it again with %q", name, command(cfg))
}

// command is the command that creates the stream and the object store.
func command(cfg Options) string {
	return "rolectl tasks create " + cfg.Namespace + cfg.Reach.Flags()
}

// mayCreate returns an error if the missing stream must not be created, because a JetStream domain
// answers that nobody has named.
func (o Options) mayCreate(ctx context.Context, nc *nats.Conn, stream string) error {
	return o.Reach.MayCreate(ctx, nc, fmt.Sprintf("stream %q", stream), command(o))
}

// Open opens the stream of a namespace, or creates it if AutoCreate is set. Errors:
// taskerr.ErrStreamNotFound, taskerr.ErrOtherStream, taskerr.ErrNoDomain, an unfit stream,
// taskerr.ErrOldFormat among them, and those of the connection.
func Open(ctx context.Context, nc *nats.Conn, cfg Options) (*natskv.Stream, error) {
	want, examine, old := streamConfig(cfg), unfit(cfg), false
	faults := func(info *jetstream.StreamInfo) []string {
		old = earlier(info)
		return examine(info)
	}
	prefix := record.Stored(want.Name)
	s, err := cfg.Reach.OpenStream(ctx, nc, prefix, want.Name, faults)
	if errors.Is(err, natskv.ErrBucketNotFound) && cfg.AutoCreate {
		if err = cfg.mayCreate(ctx, nc, want.Name); err == nil {
			s, err = cfg.Reach.CreateStream(ctx, nc, prefix, want, faults)
		}
	}
	if unfit := (*natskv.UnfitError)(nil); old && errors.As(err, &unfit) {
		unfit.Format = 1
	}
	switch {
	case errors.Is(err, natskv.ErrBucketNotFound):
		return nil, notFound(ctx, nc, cfg, err)
	case err != nil:
		return nil, fmt.Errorf("assign: %w", err)
	case cfg.ID != "" && s.Identity().ID != cfg.ID:
		return nil, fmt.Errorf("assign: %w", &natskv.OtherBucketError{
			Stream: s.Name(), Opened: natskv.Identity{ID: cfg.ID}, Found: s.Identity(),
		})
	}
	return s, nil
}

// notFound says where the stream was looked for, if that is known.
func notFound(ctx context.Context, nc *nats.Conn, cfg Options, err error) error {
	name := record.StreamName(cfg.Namespace)
	missing := (*natskv.NotFoundError)(nil)
	if errors.As(cfg.Reach.Located(ctx, nc, err), &missing) && missing.Domain != "" {
		return fmt.Errorf("%w: %s in JetStream domain %q: set Domain to the domain that has it, or create it there with %q",
			taskerr.ErrStreamNotFound, name, missing.Domain, command(cfg)+" --js-domain "+missing.Domain)
	}
	return fmt.Errorf("%w: %s: set StreamAutoCreate, or create it with %q", taskerr.ErrStreamNotFound, name, command(cfg))
}
