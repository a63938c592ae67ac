package natskv

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// rawAnswer keeps the configuration as the server sent it, including fields that this version does
// not know.
type rawAnswer struct {
	Config map[string]json.RawMessage `json:"config"`
	Error  *jetstream.APIError        `json:"error"`
}

func (a *rawAnswer) fault() *jetstream.APIError { return a.Error }

// Repair upgrades a bucket in place, as far as the server allows it, and returns the faults that it
// has corrected. It keeps every record that is the last of its key, and changes nothing when the
// bucket is fit. It returns the remaining faults as an UnfitError, even when it has corrected
// others. It needs the permission to update the stream.
func Repair(ctx context.Context, nc *nats.Conn, bucket string) (changed []string, err error) {
	return Reach{}.Repair(ctx, nc, bucket)
}

// Repair is the function Repair over this Reach.
func (r Reach) Repair(ctx context.Context, nc *nats.Conn, bucket string) (changed []string, err error) {
	at := bucketPlace(bucket, r)
	info, err := bucketInfo(ctx, nc, at)
	if err != nil {
		return nil, fmt.Errorf("repair bucket: %w", err)
	}
	var raw rawAnswer
	if err := request(ctx, nc, at, at.api("STREAM.INFO"), nil, &raw); err != nil {
		return nil, fmt.Errorf("repair bucket: %w", err)
	}
	if raw.Config == nil {
		return nil, fmt.Errorf("repair bucket %q: the server has answered without its configuration", bucket)
	}
	if earlierFormat(&info.StreamInfo) > 0 {
		return nil, unfit(at, &info.StreamInfo, nc.ConnectedServerVersion())
	}
	var metadata any // as a rule repairs it
	for _, r := range rules {
		if r.fit(bucket, &info.StreamInfo) {
			continue
		}
		if r.repair == nil {
			// A bucket that would stay unfit, or that a newer version understands better, is not
			// touched.
			return nil, unfit(at, &info.StreamInfo, nc.ConnectedServerVersion())
		}
		key, value := r.repair(&info.StreamInfo)
		if key == "metadata" {
			metadata = value
		}
		if raw.Config[key], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("repair bucket: encode %s: %w", key, err)
		}
		changed = append(changed, r.fault)
	}
	if !fullyDescribed(&info.StreamInfo) && copied(bucket, &info.StreamInfo) == nil {
		repaired := described(&info.StreamInfo, homeOf(&info.StreamInfo))
		if said, is := metadata.(map[string]string); is {
			maps.Copy(repaired, said)
		}
		if raw.Config["metadata"], err = json.Marshal(repaired); err != nil {
			return nil, fmt.Errorf("repair bucket: encode metadata: %w", err)
		}
		if metadata == nil {
			changed = append(changed, "the metadata does not say where the bucket is: a copy could not be told from it")
		}
	}
	if len(changed) == 0 {
		return nil, oldServer(bucket, nc)
	}
	var after streamAnswer
	if err := request(ctx, nc, at, at.api("STREAM.UPDATE"), raw.Config, &after); err != nil {
		return nil, fmt.Errorf("repair bucket: %w", err)
	}
	_, err = r.Open(ctx, nc, bucket)
	return changed, err
}
