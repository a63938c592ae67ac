package natskv

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// DefaultMaxTTL is L_max: no session's TTL may be longer, and a process waits for this time if
	// it knows nothing about a key.
	DefaultMaxTTL = 2 * time.Minute

	// MostMaxTTL is the largest L_max. No session has a longer TTL, whatever its bucket allows.
	MostMaxTTL = time.Hour

	// formatVersion is the version of the keys and records in a bucket. A program refuses a bucket of
	// another version. In version 1 the keys were "role.", "lease.", "member.", "worker.lease." and
	// "worker.member.".
	formatVersion = 2

	metaFormat = "rolemanager.format"
	metaMaxTTL = "rolemanager.max_ttl_ms"

	// lowestRevision separates buckets that were created with FirstSeq = Unix microseconds from
	// others. It is the year 1998 in microseconds, just below the year 2000 in which a
	// testing/synctest bubble begins. A bucket that counts from 1 reaches it after 10^14 writes.
	lowestRevision = 900_000_000_000_000
)

// Config describes a new bucket.
type Config struct {
	// Bucket is its name: letters, digits, - and _.
	Bucket string
	// Replicas is the number of servers that keep the bucket. Default 1. A bucket with 3 survives
	// the loss of one server, and one with 5 the loss of two.
	Replicas int
	// Storage is file storage by default. A bucket in memory with one replica is lost when the
	// server restarts, see Bucket.Volatile.
	Storage jetstream.StorageType
	// MaxBytes bounds the bucket, which then refuses writes when it is full. Default 0: no bound.
	MaxBytes int64
	// MaxTTL is L_max, the longest TTL that a session in this bucket may have. Default
	// DefaultMaxTTL, minimum 1 s, maximum MostMaxTTL.
	MaxTTL time.Duration
	// Place is where the servers are that keep it. Default: the cluster of the server that is asked.
	Place Place
	// Reach leads to the JetStream that keeps the bucket.
	Reach Reach
}

func (c Config) withDefaults() Config {
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.MaxTTL == 0 {
		c.MaxTTL = DefaultMaxTTL
	}
	return c
}

// Command returns the shell command that creates the bucket.
func Command(cfg Config) string {
	cfg = cfg.withDefaults()
	var b strings.Builder
	fmt.Fprintf(&b, "rolectl bucket create %s", cfg.Bucket)
	if cfg.Replicas != 1 {
		fmt.Fprintf(&b, " --replicas %d", cfg.Replicas)
	}
	if cfg.Storage != jetstream.FileStorage {
		fmt.Fprintf(&b, " --storage %s", strings.ToLower(cfg.Storage.String()))
	}
	if cfg.MaxTTL != DefaultMaxTTL {
		fmt.Fprintf(&b, " --max-ttl %s", cfg.MaxTTL)
	}
	if cfg.MaxBytes > 0 {
		fmt.Fprintf(&b, " --max-bytes %d", cfg.MaxBytes)
	}
	if cfg.Place.Cluster != "" {
		fmt.Fprintf(&b, " --cluster %s", cfg.Place.Cluster)
	}
	for _, tag := range cfg.Place.Tags {
		fmt.Fprintf(&b, " --tag %s", tag)
	}
	b.WriteString(cfg.Reach.Flags())
	return b.String()
}

func streamName(bucket string) string { return "KV_" + bucket }

// keyPrefix is the part of a subject before the key.
func keyPrefix(bucket string) string { return "$KV." + bucket + "." }

// MaxConsumers is the most consumers that a stream may have at a time: each member and each
// observer of a bucket has one. If a stream has no bound of its own, the server sets one of 1,000
// (default_max_consumers, since 2.14). If an account allows fewer, its own bound applies.
const MaxConsumers = 100_000

// streamConfig is the intended stream of a bucket. The jetstream package's own KeyValue works on
// it.
func streamConfig(cfg Config, now time.Time) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:     streamName(cfg.Bucket),
		Subjects: []string{keyPrefix(cfg.Bucket) + ">"},
		// Revisions are epochs. Because they begin at the time of creation, they increase even
		// after the bucket was deleted and recreated, as long as fewer than a million records are
		// written per second.
		FirstSeq:               uint64(now.UnixMicro()),
		Retention:              jetstream.LimitsPolicy,
		Storage:                cfg.Storage,
		Replicas:               cfg.Replicas,
		Placement:              cfg.Place.placement(),
		MaxMsgsPerSubject:      1, // also required so that an update does not inherit a TTL
		MaxMsgs:                -1,
		MaxBytes:               cmp.Or(cfg.MaxBytes, -1),
		MaxMsgSize:             -1,
		MaxConsumers:           MaxConsumers,
		Discard:                jetstream.DiscardNew, // a full bucket refuses writes, it never drops records
		AllowDirect:            false,                // see rules
		AllowRollup:            true,
		DenyDelete:             true,
		AllowMsgTTL:            true,
		SubjectDeleteMarkerTTL: markerTTL(cfg.MaxTTL),
		AllowAtomicPublish:     true,
		Metadata: map[string]string{
			metaFormat: strconv.Itoa(formatVersion),
			metaMaxTTL: strconv.FormatInt(cfg.MaxTTL.Milliseconds(), 10),
			metaID:     newID(),
		},
	}
}

// markerTTL is how long a marker remains after its record has expired. It must outlast 2 L_max, so
// that every process has seen it whose watch lives; the server is up to a second early. Each
// session that ends leaves one, so it does not remain for longer.
func markerTTL(longest time.Duration) time.Duration {
	return (2*longest + 2*time.Second - 1).Truncate(time.Second)
}

// maxTTL reads L_max from the metadata of a stream, where it may be above MostMaxTTL.
func maxTTL(c *jetstream.StreamConfig) (time.Duration, bool) {
	ms, err := strconv.ParseInt(c.Metadata[metaMaxTTL], 10, 64)
	d := time.Duration(ms) * time.Millisecond
	return min(d, MostMaxTTL), err == nil && ms > 0 && d/time.Millisecond == time.Duration(ms)
}
