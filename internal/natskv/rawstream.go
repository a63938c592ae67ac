package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	created  time.Time
	replicas int
}

// ErrRecordNotFound means that no record was found at a key or revision. In a cluster it may come
// from a server that has been deposed, so it proves nothing.
var ErrRecordNotFound = errors.New("record not found")

const codeMessageNotFound = 10037

// CreateStream creates the stream, or opens an existing one, whose own configuration then counts;
// unfit reports what is wrong with it. Errors are those of OpenStream.
func CreateStream(ctx context.Context, nc *nats.Conn, prefix string, cfg jetstream.StreamConfig,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	s, err := OpenStream(ctx, nc, prefix, cfg.Name, unfit)
	if !errors.Is(err, ErrBucketNotFound) {
		return s, err
	}
	at := place{stream: cfg.Name, prefix: prefix}
	info, err := createStream(ctx, nc, at, cfg)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", at, err)
	}
	return openedStream(nc, at, info, unfit)
}

// OpenStream opens a stream and checks it, but corrects nothing. Errors: NotFoundError, UnfitError,
// PermissionError, ErrJetStreamOff, and those of the connection and the API.
func OpenStream(ctx context.Context, nc *nats.Conn, prefix, name string,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	at := place{stream: name, prefix: prefix}
	info, err := infoOf(ctx, nc, at)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", at, err)
	}
	return openedStream(nc, at, info, unfit)
}

func openedStream(nc *nats.Conn, at place, info *streamAnswer,
	unfit func(*jetstream.StreamInfo) []string,
) (*Stream, error) {
	var faults []string
	if f := tooOld(nc.ConnectedServerVersion()); f != "" {
		faults = append(faults, f)
	}
	if faults = append(faults, unfit(&info.StreamInfo)...); len(faults) > 0 {
		return nil, &UnfitError{Stream: at.stream, Faults: faults}
	}
	return &Stream{nc: nc, at: at, created: info.Created, replicas: info.Config.Replicas}, nil
}

func (s *Stream) place() place { return s.at }

// Name is the name of the stream.
func (s *Stream) Name() string { return s.at.stream }

// Created is when the stream was created, see [Bucket.Created].
func (s *Stream) Created() time.Time { return s.created }

// Replicas is the number of servers that kept the stream when it was opened.
func (s *Stream) Replicas() int { return s.replicas }

// Watch is [Bucket.Watch] for the keys of a stream. If from is set, the watch begins with the
// record at that revision or the first one after it, and not with the last record of every key.
func (s *Stream) Watch(ctx context.Context, nc *nats.Conn, filter string, from uint64) (*Watch, error) {
	return watch(ctx, nc, s.at, filter, from)
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
	ask, err := json.Marshal(which)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", s.at, err)
	}
	m, err := nc.RequestWithContext(ctx, s.at.api("STREAM.MSG.GET"), ask)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", s.at, lost(nc, err))
	}
	e, err := s.at.record(m.Data)
	if err != nil && !errors.Is(err, ErrRecordNotFound) {
		return Entry{}, fmt.Errorf("read %s: %w", s.at, err)
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
	}
	return e, nil
}
