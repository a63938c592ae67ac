package fencing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Store is a key-value bucket that only the present term of a role can write. Once a later term has
// opened the store, the server itself refuses the writes of all earlier terms. It does so however
// late they arrive, also if their process believes that it still leads.
//
// Opening writes a seal into the bucket by compare-and-swap, and every write is conditional on that
// seal. All methods may be called concurrently. Writes are carried out one at a time, since a
// replicated stream accepts only one write in flight under one seal. Several stores may be open
// with one token, in one process or several.
//
// A Store holds no resources and needs no closing.
type Store struct {
	js      jetstream.JetStream
	nc      *nats.Conn
	reach   natskv.Reach
	bucket  string
	token   Token
	timeout time.Duration
	self    string // marks this Store's own writes, with a number after it

	// turn holds one token, which each writer takes. It guards the fields of the seal below.
	turn chan struct{}
	// seal is the revision of the seal that our writes name.
	seal uint64
	// doubtful says that a write that names seal may still be under way, so that the seal must be
	// renewed before the next write.
	doubtful bool
	// ended is why this store will never write again.
	ended error
	// writes counts writes, seen is the highest revision known.
	writes, seen uint64
}

// StoreOption changes how [OpenStore] opens a store.
type StoreOption func(*storeOptions)

type storeOptions struct {
	create   bool
	replicas int
	timeout  time.Duration
}

// WithCreate creates a missing bucket with this number of replicas. 0 means 1. An existing bucket
// is left unchanged. A cluster creates three replicas only while three of its servers run: where
// one may be down when the first leader comes, create the bucket ahead (rolectl bucket create).
// Where a JetStream domain answers, the client must have been made with jetstream.NewWithDomain, or
// nothing is created.
func WithCreate(replicas int) StoreOption {
	return func(o *storeOptions) { o.create, o.replicas = true, replicas }
}

// WithAttemptTimeout bounds how long one attempt to write waits for the server. Default 1 s. A call
// is bounded by its context.
func WithAttemptTimeout(d time.Duration) StoreOption {
	return func(o *storeOptions) { o.timeout = d }
}

// OpenStore opens a bucket that belongs to one role, and seals it for the term of t. When it has
// returned, no write of an earlier term can land any more. The earlier writes can be read with
// [Store.Latest], [Store.Keys] and [Store.Watch].
//
// After a rotation of its token, a term opens the store again with the new token. The old Store is
// stale from then on.
//
// Errors:
//   - *[StaleError]: a later term has sealed the bucket;
//   - *[ConflictError]: another holder has sealed it for the same epoch;
//   - *[RoleError]: it belongs to another role;
//   - *[SourceError]: a term of another bucket of roles has sealed it;
//   - [ErrNoToken]: the token has no epoch, holder or id;
//   - [ErrVolatile]: the bucket is in the memory of one server.
//
// Other errors say what is wrong with the bucket or with the connection to it.
func OpenStore(ctx context.Context, js jetstream.JetStream, bucket string, t Token,
	opts ...StoreOption,
) (*Store, error) {
	o := storeOptions{timeout: time.Second}
	for _, opt := range opts {
		opt(&o)
	}
	if !t.complete() {
		return nil, fmt.Errorf("open store %q: %w", bucket, ErrNoToken)
	}
	reach := natskv.ReachOf(js)
	b, err := reach.Open(ctx, js.Conn(), bucket)
	if o.create && errors.Is(err, natskv.ErrBucketNotFound) {
		b, err = create(ctx, js.Conn(), natskv.Config{Bucket: bucket, Replicas: o.replicas, Reach: reach})
	}
	if err == nil && b.Volatile() {
		err = ErrVolatile
	}
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", bucket, err)
	}
	s := &Store{
		js: js, nc: js.Conn(), reach: reach, bucket: bucket, token: t, timeout: o.timeout,
		self: uuid.NewString(), turn: make(chan struct{}, 1),
	}
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("open store %q: %w", bucket, err)
	}
	return s, nil
}

// create creates a bucket that is missing, unless it could be missing only in the JetStream domain
// that happens to answer.
func create(ctx context.Context, nc *nats.Conn, cfg natskv.Config) (*natskv.Bucket, error) {
	if err := cfg.Reach.MayCreate(ctx, nc, fmt.Sprintf("bucket %q", cfg.Bucket), natskv.Command(cfg)); err != nil {
		return nil, err
	}
	return natskv.Create(ctx, nc, cfg)
}

// Token returns the token that the store was opened with.
func (s *Store) Token() Token { return s.token }

// Put writes key unconditionally, and returns its revision.
//
// Errors of all writes:
//   - *[StaleError], for good: a later term has opened the store;
//   - *[SourceError], for good: a term of another bucket of roles has opened it;
//   - *[UnknownError]: ctx ended before the outcome was known;
//   - [ErrKey]: the key cannot be written.
//
// Any other error says that nothing was written. If the acknowledgement of a write was
// lost, its outcome is found out before the call returns. The store renews its seal, so that no
// copy of the write can land any more. Then it reads the key, and writes again if the write has not
// landed.
func (s *Store) Put(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return s.write(ctx, &change{op: "put", key: key, value: value})
}

// Create writes key if it does not exist or was deleted; otherwise the error is
// [jetstream.ErrKeyExists]. If several calls create one key at the same time, exactly one succeeds,
// even if they use different stores of one term.
func (s *Store) Create(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return s.write(ctx, &change{op: "create", key: key, value: value, conditional: true, absent: true})
}

// Update writes key if revision is its last revision; otherwise the error is [ErrRevision].
func (s *Store) Update(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error) {
	return s.write(ctx, &change{op: "update", key: key, value: value, conditional: true, expect: last})
}

// Delete writes a marker that says that key is deleted, whether or not it exists.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.write(ctx, &change{op: "delete", key: key, marker: true})
	return err
}

func (s *Store) write(ctx context.Context, c *change) (uint64, error) {
	if err := checkKey(c.key); err != nil {
		return 0, err
	}
	if err := s.take(ctx); err != nil {
		return 0, fmt.Errorf("%s %q: nothing was written: %w", c.op, c.key, err)
	}
	defer s.give()
	revision, err := s.commit(ctx, c)
	if err != nil && !errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("%s %q: %w", c.op, c.key, err)
	}
	return revision, err
}

// take waits for the turn to write.
func (s *Store) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		if ctx.Err() != nil {
			s.give()
		}
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) give() { <-s.turn }

// reserved begins the store's own keys: the seal, and the gate (see commit.go).
const (
	reserved = "_fence."
	sealKey  = reserved + "seal"
	gateKey  = reserved + "gate"
)

// keyText is the rule of the jetstream package's KeyValue, so that every key here can be read
// there.
var keyText = regexp.MustCompile(`^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$`)

func checkKey(key string) error {
	if !keyText.MatchString(key) {
		return fmt.Errorf("%w %q: use letters, digits and -/_=, with single dots between", ErrKey, key)
	}
	if strings.HasPrefix(key, reserved) || strings.HasPrefix(key, "_kv.") {
		return fmt.Errorf("%w %q: the prefix is reserved", ErrKey, key)
	}
	return nil
}
