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
	formatVersion = "1"
	metaFormat    = "rolemanager.tasks.format"
)

func Name(namespace string) string { return "TASKS_" + namespace }

// streamConfig is the required configuration of the stream of a namespace.
func streamConfig(cfg Options) jetstream.StreamConfig {
	s := record.SubjectsOf(cfg.Namespace)
	return jetstream.StreamConfig{
		Name:     Name(cfg.Namespace),
		Subjects: s.Stored(),
		// The seal's revision fences writes. It starts at the time, so that revisions increase even
		// when the stream is deleted and made again.
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
func unfit(namespace string) func(*jetstream.StreamInfo) []string {
	want, done := streamConfig(Options{Namespace: namespace}), record.SubjectsOf(namespace).Done("")
	return func(info *jetstream.StreamInfo) (faults []string) {
		c := &info.Config
		check := func(ok bool, fault string) {
			if !ok {
				faults = append(faults, fault)
			}
		}
		check(equalSets(c.Subjects, want.Subjects), fmt.Sprintf("its subjects are %v: make them %v", c.Subjects,
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
			check(!strings.HasPrefix(r.Destination, done),
				fmt.Sprintf("it republishes to %s, where schedulers announce outcomes: give it another destination, or none",
					r.Destination))
		}
		v := c.Metadata[metaFormat]
		check(v == "" || v == formatVersion,
			"its records have a format that this version does not know: upgrade this program")
		return faults
	}
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Open opens the stream of a namespace, or creates it if AutoCreate is set.
func Open(ctx context.Context, nc *nats.Conn, cfg Options) (*natskv.Stream, error) {
	prefix := record.SubjectsOf(cfg.Namespace).Prefix
	var s *natskv.Stream
	var err error
	if cfg.AutoCreate {
		s, err = natskv.CreateStream(ctx, nc, prefix, streamConfig(cfg), unfit(cfg.Namespace))
	} else {
		s, err = natskv.OpenStream(ctx, nc, prefix, Name(cfg.Namespace), unfit(cfg.Namespace))
	}
	switch {
	case errors.Is(err, natskv.ErrBucketNotFound):
		return nil, fmt.Errorf("%w: %s: set StreamAutoCreate, or create it with %q", taskerr.ErrStreamNotFound,
			Name(cfg.Namespace), "rolectl tasks create "+cfg.Namespace)
	case err != nil:
		return nil, fmt.Errorf("assign: %w", err)
	}
	return s, nil
}
