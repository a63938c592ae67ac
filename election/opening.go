package election

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/shardcount"
)

// offPatience is how long a server must seem to have no JetStream until we believe it: one that
// starts, or has lost sight of its cluster, looks like that for a while.
const offPatience = 5 * time.Second

// openBucket opens the bucket, again and again while what is wrong may pass.
func (s *Session) openBucket(ctx context.Context, nc *nats.Conn) (*natskv.Bucket, error) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.Multiplier, pace.MaxInterval, pace.RandomizationFactor = 50*time.Millisecond, 2,
		5*time.Second, 0.1
	attempts, began := 0, time.Now()
	var last error
	try := func() (*natskv.Bucket, error) {
		attempts++
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		bucket, err := s.openBucketOnce(once, nc)
		// A server that starts has no JetStream for a while, and one that lags an earlier revision.
		lasting := (errors.Is(err, natskv.ErrJetStreamOff) || errors.Is(err, ErrStoreRegressed)) &&
			time.Since(began) >= max(offPatience, s.cfg.TTL)
		switch {
		case err == nil:
			s.cannotOpen(nil)
			return bucket, nil
		case natskv.Permanent(err) || lasting || refusedShards(err):
			return nil, backoff.Permanent(err)
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // giving up is not a fault
			s.emit(event.Fault{Meta: s.meta(), Doing: "open bucket", Err: public(err), Attempts: attempts})
		}
		last = err
		s.cannotOpen(err)
		return nil, err
	}
	bucket, err := backoff.Retry(ctx, try, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(0))
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(fmt.Errorf("election: open session: %w", ctx.Err()), public(last))
	case err != nil:
		return nil, public(err)
	}
	if s.cfg.TTL > bucket.MaxTTL() {
		return nil, &ConfigError{
			"TTL",
			fmt.Sprintf("%v is above the %v that bucket %s allows, which is final: use less, or another bucket, made with "+
				"\"rolectl bucket create NAME --max-ttl %[1]v\"", s.cfg.TTL, bucket.MaxTTL(), bucket.Name()),
		}
	}
	payload := nc.MaxPayload()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.limit(payload, bucket.Largest(), bucket.Name())
	return bucket, s.room.check(0)
}

// cannotOpen notes why the bucket cannot be opened now, nil if it can.
func (s *Session) cannotOpen(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unopened = public(err)
}

// openRoles opens a bucket, unless it is a store of package fencing.
func openRoles(ctx context.Context, reach natskv.Reach, nc *nats.Conn, bucket string) (*natskv.Bucket, error) {
	return reach.OpenWithout(ctx, nc, bucket, "_fence.seal",
		"it is the store of a role (fencing.OpenStore): give the roles a bucket of their own, with another name")
}

func (s *Session) openBucketOnce(ctx context.Context, nc *nats.Conn) (*natskv.Bucket, error) {
	b, err := openRoles(ctx, s.reach, nc, s.cfg.Bucket)
	switch {
	case s.cfg.BucketAutoCreate && errors.Is(err, natskv.ErrBucketNotFound):
		if b, err = s.createBucket(ctx, nc); err != nil {
			return nil, err
		}
	case errors.Is(err, natskv.ErrBucketNotFound):
		return nil, fmt.Errorf("%w; or set BucketAutoCreate", s.reach.Located(ctx, nc, err))
	case err != nil:
		return nil, s.reach.Located(ctx, nc, err)
	case s.cfg.BucketID != "" && b.Identity().ID != s.cfg.BucketID:
		return nil, &natskv.OtherBucketError{
			Bucket: b.Name(), Opened: natskv.Identity{ID: s.cfg.BucketID}, Found: b.Identity(),
		}
	}
	if !s.cfg.WorkerOnly { // who leads watches every key: a first term would be the first to find out
		if err := b.MayWatch(ctx, nc, record.AllFilter); err != nil {
			return nil, err
		}
	}
	if b.Last()+1 < s.cfg.MinEpoch { // a new bucket has none yet
		return nil, &kindError{ErrStoreRegressed, fmt.Errorf(
			"the last revision of bucket %q is %d, and epoch %d was given: it went back, so epochs would be given twice; "+
				"stop every process that uses it, and run \"rolectl bucket adopt %[1]s\"",
			b.Name(), b.Last(), s.cfg.MinEpoch)}
	}
	return b, s.checkAllShards(ctx, &reached{nc, b})
}

// told is what was reported of the waits that may keep a process from leading, each once.
type told struct {
	lease  string // the nonce of the lease that is waited for
	absent bool
}

// waitsForLease is what is waited for while a session of another process stands at our own lease;
// nil for nothing. A process that crashed has left one behind.
func (s *Session) waitsForLease(m *protocol.Machine, now record.Now) (wait *WaitError, lease string) {
	left, lease, ok := m.OpensIn(now)
	if !ok || left == 0 {
		return nil, ""
	}
	what := fmt.Sprintf("for the last session of %s to run out, which was not closed", s.cfg.InstanceID)
	return &WaitError{what, left}, lease
}

// tellLease reports that once for each such lease.
func (l *loop) tellLease() {
	if l.ended || l.s.number.Load() != 0 {
		return
	}
	if wait, lease := l.s.waitsForLease(l.machine, l.now); wait != nil && l.told.lease != lease {
		l.told.lease = lease
		l.s.emit(event.Fault{Meta: l.s.meta(), Doing: "open session", Err: wait, Attempts: 1})
	}
}

// waitsForAbsent is what a role waits for that has no record in an adopted bucket; nil for nothing.
func (s *Session) waitsForAbsent(m *protocol.Machine, now record.Now, role string) *WaitError {
	left := m.AbsentIn(now)
	if left == 0 || !m.Status(role).Absent {
		return nil
	}
	return &WaitError{fmt.Sprintf("before it takes a role that has no record, since bucket %s was adopted: "+
		"somebody may still lead it by a record that has gone", s.cfg.Bucket), left}
}

// tellAbsent reports that once, for the first such role: it ends for all at the same time.
func (l *loop) tellAbsent(m *protocol.Machine, now record.Now, roles ...string) {
	for _, role := range roles {
		if l.told.absent || l.s.number.Load() == 0 || !l.bucket.Adopted() {
			return
		}
		if wait := l.s.waitsForAbsent(m, now, role); wait != nil {
			l.told.absent = true
			l.s.emit(event.Fault{Meta: l.s.meta(), Doing: "claim", Role: role, Err: wait, Attempts: 1})
		}
	}
}

// waits says what keeps the session from opening, as far as is known; "" for nothing.
func (s *Session) waits() (why string) {
	s.query(func(m *protocol.Machine, now record.Now) {
		if wait, _ := s.waitsForLease(m, now); wait != nil {
			why = strings.TrimPrefix(wait.Error(), "election: ")
		}
	})
	return why
}

// reached is the bucket as the opening has found it.
type reached struct {
	nc     *nats.Conn
	bucket *natskv.Bucket
}

// checkAllShards checks each group of the elections so far, a group once. Every election that is
// made later asks for its own group when it starts.
func (s *Session) checkAllShards(ctx context.Context, at *reached) error {
	for {
		group, n := s.uncheckedShards(at)
		if n == 0 {
			return nil
		}
		if err := s.recordShards(ctx, at, group, n); err != nil {
			return err
		}
	}
}

// uncheckedShards is a group of which it is not known that the bucket says the same. n is 0 for
// none: then s.reached is set, under the same lock, so that no election comes between.
func (s *Session) uncheckedShards(at *reached) (group string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.elections {
		if n := e.cfg.Shards; n > 0 && s.shards[e.cfg.Group] != n {
			return e.cfg.Group, n
		}
	}
	s.reached = at
	return "", 0
}

// recordShards records how many shards a group has, or compares that with what is recorded.
func (s *Session) recordShards(ctx context.Context, at *reached, group string, n int) error {
	if err := shardcount.Record(ctx, at.nc, at.bucket, group, n, s.cfg.OpTimeout); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shards[group] = n
	return nil
}

// shardPatience is how long the start of an election waits to hear how many shards its group has.
const shardPatience = 5 * time.Second

// checkShards checks one group before anything of it is led; n is 0 for a role that is not a shard.
// Before the bucket is reached there is nobody to ask: the opening does it.
func (s *Session) checkShards(ctx context.Context, group string, n int) error {
	s.mu.Lock()
	at, l, known := s.reached, s.loop, s.shards[group]
	s.mu.Unlock()
	if n == 0 || at == nil || known == n {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shardPatience)
	defer cancel()
	if l != nil {
		defer context.AfterFunc(l.ctx, cancel)()
	}
	return public(s.recordShards(ctx, at, group, n))
}

// refusedShards reports whether a group is recorded with another number, or by a later version.
func refusedShards(err error) bool {
	other := (*shardcount.OtherError)(nil)
	return errors.As(err, &other) || errors.Is(err, record.ErrNewer)
}

func (s *Session) createBucket(ctx context.Context, nc *nats.Conn) (*natskv.Bucket, error) {
	cfg := natskv.Config{
		Bucket: s.cfg.Bucket, Replicas: s.cfg.Replicas, Storage: s.cfg.Storage, MaxBytes: s.cfg.MaxBytes,
		MaxTTL: max(natskv.DefaultMaxTTL, s.cfg.TTL), Reach: s.reach,
	}
	if err := cfg.MayCreate(ctx, nc); err != nil {
		return nil, err
	}
	return natskv.Create(ctx, nc, cfg)
}
