package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Owner changes what only the owner of a bucket may change: what its metadata say, where it
// begins, and where it is. It needs the permission to update and to purge the stream.
type Owner struct {
	nc *nats.Conn
	at place
}

// Owner returns the Owner of a bucket, which may be a copy or unfit. It asks nothing.
func (r Reach) Owner(nc *nats.Conn, bucket string) *Owner {
	return &Owner{nc: nc, at: bucketPlace(bucket, r)}
}

// clocksWithin is how far the clocks of a process that gives a bucket its first revision and of the
// server may be apart.
const clocksWithin = time.Minute

func (o *Owner) info(ctx context.Context) (*streamAnswer, map[string]json.RawMessage, error) {
	info, err := bucketInfo(ctx, o.nc, o.at)
	if err != nil {
		return nil, nil, err
	}
	var raw rawAnswer
	if err := request(ctx, o.nc, o.at, o.at.api("STREAM.INFO"), nil, &raw); err != nil {
		return nil, nil, err
	}
	if raw.Config == nil {
		return nil, nil, fmt.Errorf("%s: the server has answered without its configuration", o.at)
	}
	return info, raw.Config, nil
}

// update writes a configuration. The answer may be older than the update, so it is not used.
func (o *Owner) update(ctx context.Context, cfg map[string]json.RawMessage, changes map[string]any) error {
	cfg, err := changed(cfg, changes)
	if err != nil {
		return err
	}
	var after streamAnswer
	return request(ctx, o.nc, o.at, o.at.api("STREAM.UPDATE"), cfg, &after)
}

// changed is a configuration with changes.
func changed(cfg map[string]json.RawMessage, changes map[string]any) (map[string]json.RawMessage, error) {
	cfg = maps.Clone(cfg)
	for key, value := range changes {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", key, err)
		}
		cfg[key] = encoded
	}
	return cfg, nil
}

// described is the metadata of a stream with changes; an empty value of metaFormer removes it.
func described(s *jetstream.StreamInfo, changes map[string]string) map[string]string {
	meta := maps.Clone(s.Config.Metadata)
	if meta == nil {
		meta = map[string]string{}
	}
	maps.Copy(meta, changes)
	if meta[metaFormer] == "" {
		delete(meta, metaFormer)
	}
	return meta
}

// settle finishes a bucket that was asked for at the time now, which took so long: its revisions
// begin at the server's time at least, and its metadata say where it is. A process without the
// permissions leaves that to the owner: what the metadata do not say is not compared.
func (o *Owner) settle(
	ctx context.Context, made *streamAnswer, now time.Time, took time.Duration,
) (*streamAnswer, error) {
	ahead := made.Created.Sub(now)
	if ahead < -clocksWithin || ahead-took > clocksWithin {
		err := request(ctx, o.nc, o.at, o.at.api("STREAM.DELETE"), nil, &streamAnswer{})
		return nil, errors.Join(&ClockError{ahead}, err)
	}
	if ahead-took > time.Second {
		if err := o.purge(ctx, uint64(made.Created.UnixMicro())); err != nil && !errors.Is(err, nats.ErrPermissionViolation) {
			return nil, err
		}
	}
	if info, err := o.describe(ctx); err == nil {
		return info, nil
	}
	return made, nil // mostly a permission is missing; doctor tells what the metadata lack
}

// describe writes into the metadata where the bucket is, unless they say so already.
func (o *Owner) describe(ctx context.Context) (*streamAnswer, error) {
	info, cfg, err := o.info(ctx)
	if err != nil || atHome(&info.StreamInfo) || adopting(info.Config.Metadata[metaID]) {
		return info, err
	}
	meta := described(&info.StreamInfo, homeOf(&info.StreamInfo))
	if err := o.update(ctx, cfg, map[string]any{"metadata": meta}); err != nil {
		return nil, fmt.Errorf("write where the bucket is: %w", err)
	}
	return infoOf(ctx, o.nc, o.at)
}

// purgeAnswer is the API's answer to STREAM.PURGE.
type purgeAnswer struct {
	Error *jetstream.APIError `json:"error"`
}

func (a *purgeAnswer) fault() *jetstream.APIError { return a.Error }

// purge removes every record below a revision, with which the stream then begins. A server ignores
// a revision below its last one, or removes a part: so the first one is read back.
func (o *Owner) purge(ctx context.Context, floor uint64) error {
	ask := map[string]any{"seq": floor}
	if err := request(ctx, o.nc, o.at, o.at.api("STREAM.PURGE"), ask, &purgeAnswer{}); err != nil {
		return fmt.Errorf("purge %s: %w", o.at, err)
	}
	info, err := infoOf(ctx, o.nc, o.at)
	if err != nil {
		return fmt.Errorf("read the first revision of %s: %w", o.at, err)
	}
	if info.State.FirstSeq < floor {
		return fmt.Errorf("%s begins at revision %d after a purge to %d: the purge was not carried out in full",
			o.at, info.State.FirstSeq, floor)
	}
	return nil
}

// ClockError says that the clocks of this process and of the server differ too much to give a
// bucket its first revision, which is the time.
type ClockError struct{ Ahead time.Duration } // of the server

func (e *ClockError) Error() string {
	way := "ahead of"
	if e.Ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("the server's clock is %v %s the clock of this process, and the first revision is the time: "+
		"set the clocks to within %v of each other, and try again", e.Ahead.Abs().Round(time.Second), way, clocksWithin)
}
