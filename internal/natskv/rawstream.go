package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Stream is a stream of one record per subject that is not a KV bucket. It is written by a [Writer]
// and watched like a bucket. A key is the part of a subject after the prefix. A Stream holds no
// resources.
type Stream struct {
	nc       *nats.Conn
	at       place
	identity Identity
	read     uint64 // the connection on which the identity was read
	replicas int
	bounded  bool
	// sure is the connection of which known has found out that it leads to this stream, plus one.
	sure atomic.Uint64
}

// ErrRecordNotFound means that no record was found at a key or revision. In a cluster it may come
// from a server that has been deposed, so it proves nothing.
var ErrRecordNotFound = errors.New("record not found")

const codeMessageNotFound = 10037

// CreateStream creates the stream with an id of its own, or opens an existing one, whose own
// configuration then counts; unfit reports what is wrong with it. Errors are those of OpenStream.
func (r Reach) CreateStream(ctx context.Context, nc *nats.Conn, prefix string, cfg jetstream.StreamConfig,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	s, err := r.OpenStream(ctx, nc, prefix, cfg.Name, unfit)
	if !errors.Is(err, ErrBucketNotFound) {
		return s, err
	}
	at, on := place{stream: cfg.Name, prefix: prefix, reach: r}, connection(nc)
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[metaID] = newID()
	info, err := createStream(ctx, nc, at, cfg)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", at, err)
	}
	return openedStream(nc, at, info, on, unfit)
}

// OpenStream opens a stream and checks it, but corrects nothing. The stream must have been made by
// CreateStream. A key is what follows prefix in a subject. Errors: NotFoundError, UnfitError,
// PermissionError, ErrJetStreamOff, and those of the connection and the API.
func (r Reach) OpenStream(ctx context.Context, nc *nats.Conn, prefix, name string,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	at, on := place{stream: name, prefix: prefix, reach: r}, connection(nc)
	info, err := infoOf(ctx, nc, at)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", at, err)
	}
	return openedStream(nc, at, info, on, unfit)
}

// openedStream checks a stream. on is the connection on which the stream has answered.
func openedStream(nc *nats.Conn, at place, info *streamAnswer, on uint64,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	var faults []string
	if f := tooOld(nc.ConnectedServerVersion()); f != "" {
		faults = append(faults, f)
	}
	if faults = append(faults, unfit(&info.StreamInfo)...); len(faults) > 0 {
		return nil, &UnfitError{Stream: at.stream, Faults: faults}
	}
	s := &Stream{
		nc: nc, at: at, identity: info.identity(), read: on, replicas: info.Config.Replicas,
		bounded: info.Config.MaxBytes > 0 || info.Config.MaxMsgs > 0,
	}
	s.at.domain = s.identity.Domain
	s.sure.Store(on + 1)
	return s, nil
}

func (s *Stream) place() place { return s.at }

// Concerns reports whether the server's complaint is about a record of this stream, which has the
// key then, or about reading records.
func (s *Stream) Concerns(d *PermissionError) (key string, reads bool) {
	if d.Subscribe {
		return "", false
	}
	if s.at.reach.Concerns(d, s.at.api("STREAM.MSG.GET")) {
		return "", true
	}
	for _, prefix := range []string{s.at.prefix, s.at.reach.Publish(s.at.prefix)} {
		if key, ours := strings.CutPrefix(d.Subject, prefix); ours {
			return key, false
		}
	}
	return "", false
}

func (s *Stream) identified() (nc *nats.Conn, on uint64) { return s.nc, s.read }

// Identity is the identity that the stream had when it was opened.
func (s *Stream) Identity() Identity { return s.identity }

// Reach is the way to the JetStream that keeps the stream.
func (s *Stream) Reach() Reach { return s.at.reach }

// Identify asks which stream of this name answers on nc now. Errors: OtherBucketError, and those of
// OpenStream.
func (s *Stream) Identify(ctx context.Context, nc *nats.Conn) error {
	_, err := s.identify(ctx, nc)
	return err
}

func (s *Stream) identify(ctx context.Context, nc *nats.Conn) (Identity, error) {
	info, err := infoOf(ctx, nc, s.at)
	if err != nil {
		return Identity{}, err
	}
	found := info.identity()
	if !s.identity.Same(found) {
		err = &OtherBucketError{Stream: s.at.stream, Opened: s.identity, Found: found}
	}
	return found, err
}

// known returns an error if the present connection may lead to another stream of this name. It asks
// once on each connection, except on one that is not the stream's own.
func (s *Stream) known(ctx context.Context, nc *nats.Conn) error {
	on := connection(nc)
	if nc == s.nc && s.sure.Load() == on+1 {
		return nil
	}
	if err := s.Identify(ctx, nc); err != nil {
		return fmt.Errorf("which stream is this: %w", err)
	}
	if nc == s.nc {
		s.sure.Store(on + 1)
	}
	return nil
}

// Name is the name of the stream.
func (s *Stream) Name() string { return s.at.stream }

// Replicas is the number of servers that kept the stream when it was opened.
func (s *Stream) Replicas() int { return s.replicas }

// Bounded reports whether the stream had a bound of its own when it was opened, in bytes or in
// messages.
func (s *Stream) Bounded() bool { return s.bounded }

// Watch is [Bucket.Watch] for the keys of a stream. If from is set, the watch begins with the
// record at that revision or the first one after it, and not with the last record of every key.
// All of that is of this very stream: after the watch has begun, the stream is asked for its
// identity. Errors: also OtherBucketError.
func (s *Stream) Watch(ctx context.Context, nc *nats.Conn, filter string, from uint64) (*Watch, error) {
	on := connection(nc)
	w, err := watch(ctx, nc, s.at, filter, from, 0)
	if err != nil {
		return nil, err
	}
	if err = s.Identify(ctx, nc); err == nil && connection(nc) != on {
		err = fmt.Errorf("%w: the connection was lost", ErrWatchLost) // it may be of another stream than the answer
	}
	if err != nil {
		w.Stop()
		return nil, fmt.Errorf("which stream is being watched: %w", err)
	}
	return w, nil
}

// Get asks the stream's leader for the last record of a key. In a cluster the answer may come from
// a server that was deposed and does not know it: a record existed at some time, and a missing
// record proves nothing. Errors: ErrRecordNotFound, and those of the connection.
func (s *Stream) Get(ctx context.Context, nc *nats.Conn, key string) (Entry, error) {
	if err := checkKey(key); err != nil {
		return Entry{}, err
	}
	return s.get(ctx, nc, map[string]any{"last_by_subj": s.at.prefix + key})
}

// GetRevision is Get for the record at a revision.
func (s *Stream) GetRevision(ctx context.Context, nc *nats.Conn, revision uint64) (Entry, error) {
	return s.get(ctx, nc, map[string]any{"seq": revision})
}

// Next is Get for the first record, from a revision on, whose key matches a filter.
func (s *Stream) Next(ctx context.Context, nc *nats.Conn, filter string, from uint64) (Entry, error) {
	return s.get(ctx, nc, map[string]any{"seq": max(from, 1), "next_by_subj": s.at.prefix + filter})
}

// messageAnswer is the API's answer to STREAM.MSG.GET.
type messageAnswer struct {
	Message struct {
		Subject string    `json:"subject"`
		Seq     uint64    `json:"seq"`
		Header  []byte    `json:"hdrs"`
		Data    []byte    `json:"data"`
		Time    time.Time `json:"time"`
	} `json:"message"`
	Error *jetstream.APIError `json:"error"`
}

func (s *Stream) get(ctx context.Context, nc *nats.Conn, which map[string]any) (Entry, error) {
	if err := s.known(ctx, nc); err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", s.at, err)
	}
	return s.at.get(ctx, nc, which)
}

// get asks the leader for a record.
func (p place) get(ctx context.Context, nc *nats.Conn, which map[string]any) (Entry, error) {
	ask, err := json.Marshal(which)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", p, err)
	}
	m, err := nc.RequestWithContext(ctx, p.api("STREAM.MSG.GET"), ask)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", p, lost(nc, err))
	}
	e, err := p.record(m.Data)
	if err != nil && !errors.Is(err, ErrRecordNotFound) {
		return Entry{}, fmt.Errorf("read %s: %w", p, err)
	}
	return e, err
}

// record reads the answer to STREAM.MSG.GET.
func (p place) record(data []byte) (Entry, error) {
	var a messageAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return Entry{}, fmt.Errorf("decode answer: %w", err)
	}
	if a.Error != nil {
		if a.Error.ErrorCode == codeMessageNotFound {
			return Entry{}, ErrRecordNotFound
		}
		return Entry{}, fromAPI(p, a.Error)
	}
	key, ours := strings.CutPrefix(a.Message.Subject, p.prefix)
	if !ours || key == "" || a.Message.Seq == 0 {
		return Entry{}, fmt.Errorf("record of %q at revision %d", a.Message.Subject, a.Message.Seq)
	}
	e := Entry{Key: key, Value: a.Message.Data, Revision: a.Message.Seq, Time: a.Message.Time}
	if len(a.Message.Header) > 0 {
		var err error
		if e.Header, err = nats.DecodeHeadersMsg(a.Message.Header); err != nil {
			return Entry{}, fmt.Errorf("decode header: %w", err)
		}
		e.Marker = isMarker(e.Header)
	}
	return e, nil
}
