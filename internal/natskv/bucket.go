package natskv

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var bucketName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Bucket is a bucket that passed all checks when it was opened. It holds no resources.
type Bucket struct {
	nc       *nats.Conn
	name     string
	reach    Reach
	identity Identity
	read     uint64 // the connection on which the identity was read
	maxTTL   time.Duration
	replicas int
	storage  jetstream.StorageType
	largest  int32
	adopted  bool
	last     uint64
}

// Last is the bucket's last revision as the server had it when the bucket was opened. A server that
// lags has an earlier one.
func (b *Bucket) Last() uint64 { return b.last }

// Adopted reports whether the bucket begins at a floor: whatever was in it before has gone without
// a marker.
func (b *Bucket) Adopted() bool { return b.adopted }

// Largest is how many bytes a message may have, with its header, as the bucket was opened; 0 for
// any number.
func (b *Bucket) Largest() int { return max(int(b.largest), 0) }

// Name is the name of the bucket.
func (b *Bucket) Name() string { return b.name }

// Stream is the name of the bucket's stream.
func (b *Bucket) Stream() string { return streamName(b.name) }

// Identity is the identity that the bucket had when it was opened. A restored bucket keeps its own.
func (b *Bucket) Identity() Identity { return b.identity }

func (b *Bucket) identified() (nc *nats.Conn, on uint64) { return b.nc, b.read }

// Reach is the way to the JetStream that keeps the bucket.
func (b *Bucket) Reach() Reach { return b.reach }

// MaxTTL is L_max: the longest TTL a session in this bucket may have.
func (b *Bucket) MaxTTL() time.Duration { return b.maxTTL }

// Replicas is the number of servers that kept the bucket when it was opened.
func (b *Bucket) Replicas() int { return b.replicas }

// Volatile reports whether the bucket lives in the memory of one server, and is lost when that
// server restarts.
//
// A standalone server forgets the bucket. The revisions of the recreated bucket continue to
// increase, because they begin at the time of creation. In a cluster the stream comes back empty,
// and its revisions begin again where they began the first time: epochs repeat, and what they
// fenced is open.
//
// Such a bucket is for tests, and for servers embedded in the one process that uses them. Opening
// it is not an error, because somebody has asked for memory.
func (b *Bucket) Volatile() bool { return b.storage == jetstream.MemoryStorage && b.replicas == 1 }

// State is what the server reports about a bucket.
type State struct {
	Identity
	// Now is when the server answered, by its clock.
	Now time.Time
	// FirstSeq and LastSeq are the revisions of the oldest and of the last record. If LastSeq has
	// gone back, an older state was restored, or acknowledged writes were lost.
	FirstSeq, LastSeq uint64
	// Keys counts the records, markers included.
	Keys, Bytes uint64
	// Largest is how many bytes a message may have, with its header; 0 for any number.
	Largest int
	// Watchers counts the consumers on the bucket.
	Watchers int
	Replicas int
	Storage  jetstream.StorageType
	// Leader is the server that leads the stream. It is empty outside a cluster, and when there is
	// no leader now: any replica may then have answered, with what it has. Offline, Lagging and
	// Current count the other replicas: those that have shut down or that the leader has not heard
	// from for unheard, those that are behind, and those that are up to date.
	Leader                    string
	Offline, Lagging, Current int
	// Undescribed means that the metadata do not say in full where the bucket is. Copied is the
	// reason why Open takes it for a copy, or for one that is being adopted; nil if it does not.
	Undescribed bool
	Copied      error
	// Faults are those that Open would report. It is empty when the bucket is fit.
	Faults []string
	// Ordinary says that the bucket was made for other data. No repair makes it one for roles.
	Ordinary bool
}

// unheard is how long the leader of a stream hears nothing from a replica that is no longer there.
// Replicas answer every second, and a leader that has heard no majority of them for this long gives
// up (lostQuorumInterval in raft.go of nats-server). The server itself calls a replica offline when
// that has said farewell. After a kill, or when the farewell is lost, it does so 150 to 240 s later
// (orphMax and chkOrph in events.go), and until then says that the replica is behind.
const unheard = 10 * time.Second

// missing reports whether a replica is not there, by what the leader of the stream tells. A
// leader says of one that it has not heard from since it leads that this was 0 s ago.
func (a *streamAnswer) missing(r *jetstream.PeerInfo) bool {
	led := time.Duration(0)
	if since := a.Cluster.LeaderSince; since != nil {
		led = a.TimeStamp.Sub(*since)
	}
	return r.Offline || r.Active > unheard || r.Active == 0 && !r.Current && led > unheard
}

// Create creates the bucket, or opens an existing one, whose own configuration then counts instead
// of cfg. Several processes may do this at once; those that lose the race read the bucket again and
// check it. Errors are those of Open.
func Create(ctx context.Context, nc *nats.Conn, cfg Config) (*Bucket, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("create bucket: %w", err)
	}
	b, err := cfg.Reach.Open(ctx, nc, cfg.Bucket)
	if !errors.Is(err, ErrBucketNotFound) {
		return b, err
	}
	if err := oldServer(cfg.Bucket, nc); err != nil {
		return nil, err
	}
	at, on := bucketPlace(cfg.Bucket, cfg.Reach), connection(nc)
	now := time.Now()
	stream := streamConfig(cfg, now)
	info, err := createStream(ctx, nc, at, stream)
	if err == nil && info.Config.FirstSeq == stream.FirstSeq { // else somebody else has created it meanwhile
		info, err = (&Owner{nc, at}).settle(ctx, info, now, time.Since(now))
	}
	if err != nil {
		return nil, fmt.Errorf("create bucket %q: %w", cfg.Bucket, err)
	}
	return opened(nc, at, info, on)
}

// Open opens a bucket and checks it, but corrects nothing. Errors: NotFoundError, UnfitError,
// PermissionError, ErrJetStreamOff, and those of the connection and the API.
func Open(ctx context.Context, nc *nats.Conn, bucket string) (*Bucket, error) {
	return Reach{}.Open(ctx, nc, bucket)
}

// Open is the function Open over this Reach.
func (r Reach) Open(ctx context.Context, nc *nats.Conn, bucket string) (*Bucket, error) {
	at, on := bucketPlace(bucket, r), connection(nc)
	info, err := bucketInfo(ctx, nc, at)
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	return opened(nc, at, info, on)
}

// OpenWithout is Open for a bucket in which no key of that pattern may stand; fault says why. Then
// the error is an UnfitError.
func (r Reach) OpenWithout(ctx context.Context, nc *nats.Conn, bucket, pattern, fault string) (*Bucket, error) {
	at, on := bucketPlace(bucket, r), connection(nc)
	info, err := bucketInfo(ctx, nc, at, pattern)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open bucket: %w", err)
	case len(info.State.Subjects) > 0:
		return nil, &UnfitError{Bucket: bucket, Faults: []string{fault}}
	}
	return opened(nc, at, info, on)
}

// Get reads what is at a key from the leader of the stream, markers too. It does not find out
// whether another bucket of this name has taken its place. Errors: ErrRecordNotFound, and those of
// the API.
func (b *Bucket) Get(ctx context.Context, nc *nats.Conn, key string) (Entry, error) {
	if err := checkKey(key); err != nil {
		return Entry{}, err
	}
	at := b.place()
	return at.get(ctx, nc, map[string]any{"last_by_subj": at.prefix + key})
}

// Inspect asks the server for the bucket's state. The answer may be out of date when it arrives,
// and in a cluster the server that gave it may no longer be the leader. The state may therefore
// decide nothing except to look again.
func (b *Bucket) Inspect(ctx context.Context) (State, error) {
	return b.reach.Inspect(ctx, b.nc, b.name)
}

// Inspect is Bucket.Inspect for a bucket that may be unfit.
func Inspect(ctx context.Context, nc *nats.Conn, bucket string) (State, error) {
	return Reach{}.Inspect(ctx, nc, bucket)
}

// Inspect is the function Inspect over this Reach.
func (r Reach) Inspect(ctx context.Context, nc *nats.Conn, bucket string) (State, error) {
	info, err := bucketInfo(ctx, nc, bucketPlace(bucket, r))
	if err != nil {
		return State{}, fmt.Errorf("inspect bucket: %w", err)
	}
	s := State{
		Identity: info.identity(), Now: info.TimeStamp,
		FirstSeq: info.State.FirstSeq, LastSeq: info.State.LastSeq,
		Keys: info.State.Msgs, Bytes: info.State.Bytes,
		Watchers: info.State.Consumers, Largest: max(int(info.Config.MaxMsgSize), 0),
		Replicas: info.Config.Replicas, Storage: info.Config.Storage,
		Faults: faults(bucketPlace(bucket, r), &info.StreamInfo, nc.ConnectedServerVersion()),
	}
	s.Ordinary = ordinary(&info.StreamInfo)
	s.Undescribed = !fullyDescribed(&info.StreamInfo)
	if s.Copied = copied(bucket, &info.StreamInfo); adopting(s.ID) {
		s.Copied = &AdoptingError{bucket}
	}
	if c := info.Cluster; c != nil {
		s.Leader = c.Leader
		for _, r := range c.Replicas {
			switch {
			case info.missing(r):
				s.Offline++
			case !r.Current:
				s.Lagging++
			default:
				s.Current++
			}
		}
	}
	return s, nil
}

func (c Config) validate() error {
	var errs []error
	if !bucketName.MatchString(c.Bucket) {
		errs = append(errs, fmt.Errorf("invalid bucket name %q: use letters, digits, - and _", c.Bucket))
	}
	if c.Replicas < 1 || c.Replicas > 5 {
		errs = append(errs, fmt.Errorf("replicas %d: use 1, 3 or 5", c.Replicas))
	}
	if c.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("%d bytes: use a positive number, or 0 for no bound", c.MaxBytes))
	}
	if c.MaxTTL < time.Second || c.MaxTTL > MostMaxTTL || c.MaxTTL%time.Millisecond != 0 {
		errs = append(errs, fmt.Errorf("maximal TTL %s: use 1s to %s, in whole milliseconds", c.MaxTTL, MostMaxTTL))
	}
	return errors.Join(errs...)
}

// opened checks a stream and returns its bucket. on is the connection on which the stream has
// answered.
func opened(nc *nats.Conn, at place, info *streamAnswer, on uint64) (*Bucket, error) {
	if err := unfit(at, &info.StreamInfo, nc.ConnectedServerVersion()); err != nil {
		return nil, err
	}
	if adopting(info.Config.Metadata[metaID]) {
		return nil, &AdoptingError{at.bucket}
	}
	if err := copied(at.bucket, &info.StreamInfo); err != nil {
		return nil, err
	}
	return bucketOf(nc, at, info, on), nil
}

// bucketOf is the bucket of a stream, whatever is wrong with it.
func bucketOf(nc *nats.Conn, at place, info *streamAnswer, on uint64) *Bucket {
	longest, _ := maxTTL(&info.Config)
	return &Bucket{
		nc: nc, name: at.bucket, reach: at.reach, identity: info.identity(), read: on, maxTTL: longest,
		replicas: info.Config.Replicas, storage: info.Config.Storage, largest: info.Config.MaxMsgSize,
		adopted: info.Config.Metadata[metaFloor] != "", last: info.State.LastSeq,
	}
}

// streamAnswer is the API's answer to STREAM.INFO, CREATE and UPDATE.
type streamAnswer struct {
	jetstream.StreamInfo
	Error *jetstream.APIError `json:"error"`
}

func (a *streamAnswer) fault() *jetstream.APIError { return a.Error }

func (a *streamAnswer) identity() Identity { return identityOf(&a.StreamInfo) }

// bucketInfo is infoOf for a bucket.
func bucketInfo(ctx context.Context, nc *nats.Conn, at place, patterns ...string) (*streamAnswer, error) {
	if !bucketName.MatchString(at.bucket) {
		return nil, fmt.Errorf("invalid bucket name %q: use letters, digits, - and _", at.bucket)
	}
	return infoOf(ctx, nc, at, patterns...)
}

// infoOf asks for the state of a stream and, with a pattern, for the subjects of its keys of that
// pattern.
func infoOf(ctx context.Context, nc *nats.Conn, at place, patterns ...string) (*streamAnswer, error) {
	var a streamAnswer
	var ask any
	for _, p := range patterns {
		ask = map[string]any{"subjects_filter": at.prefix + p}
	}
	if err := request(ctx, nc, at, at.api("STREAM.INFO"), ask, &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// createStream creates the stream, or finds the one that another process has just created, and
// reads it: the answer to a creation does not name the domain. Two creators never agree on
// FirstSeq, so the server tells the second that the name is taken.
func createStream(ctx context.Context, nc *nats.Conn, at place, cfg jetstream.StreamConfig) (*streamAnswer, error) {
	err := makeStream(ctx, nc, at, cfg)
	if hasCode(err, codeMaxConsumers) && cfg.MaxConsumers > 0 { // more than the account allows: its own bound applies
		cfg.MaxConsumers = -1
		return createStream(ctx, nc, at, cfg)
	}
	if err != nil && !hasCode(err, codeNameInUse) {
		return nil, sizeRefused(err)
	}
	return again(ctx, func() (*streamAnswer, error) { // in a cluster the stream may not be up yet
		info, err := infoOf(ctx, nc, at)
		if Permanent(err) && !errors.Is(err, ErrBucketNotFound) {
			return nil, backoff.Permanent(err)
		}
		return info, err
	})
}

// makeStream creates a stream by its configuration.
func makeStream(ctx context.Context, nc *nats.Conn, at place, cfg any) error {
	_, err := again(ctx, func() (*streamAnswer, error) {
		var a streamAnswer
		err := request(ctx, nc, at, at.api("STREAM.CREATE"), cfg, &a)
		// The server removes the directories of a deleted stream after it has answered, and may
		// remove those of a new stream with them. Then nothing was created, and the next attempt
		// succeeds.
		if err != nil && !hasCode(err, codeStreamNotMade) {
			return nil, backoff.Permanent(err)
		}
		return &a, err
	})
	return err
}

// sizeRefused adds to the refusal of a stream's size or replicas how to get the stream.
func sizeRefused(err error) error {
	switch {
	case hasCode(err, codeMaxBytesRequired):
		return fmt.Errorf("%w: set MaxBytes, or create the stream with rolectl and --max-bytes", err)
	case hasCode(err, codeMaxBytesExceeded):
		return fmt.Errorf("%w: set MaxBytes to less, or to 0 if the account requires no bound", err)
	case hasCode(err, codeSubjectOverlap):
		return fmt.Errorf("%w: another stream stores subjects of this name: use another name, or see what has it with "+
			"\"nats stream ls\"", err)
	case hasCode(err, codeNoReplicas):
		return fmt.Errorf("%w: set Replicas to 1, or connect to a cluster", err)
	case hasCode(err, codeNoPeers): // also of a server that the others have not heard of since they started
		return fmt.Errorf("%w: as many servers as Replicas says must run, each with room for that size: start those "+
			"that are down, or set Replicas to less", err)
	}
	return err
}

// again retries for at most the time that one answer may take.
func again[T any](ctx context.Context, try func() (T, error)) (T, error) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.Multiplier = 50*time.Millisecond, 2
	return backoff.Retry(ctx, try, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(answerWithin))
}

func hasCode(err error, code jetstream.ErrorCode) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.ErrorCode == code
}
