package exporter

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/doctor"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/exporter"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// watchFor is how long one run of the doctor watches, and mostStreams bounds what is asked for.
const (
	watchFor    = 2 * time.Second
	mostStreams = 200
)

// examineAlways runs the doctor's checks and measures the streams until ctx ends. The findings
// count until three rounds have failed.
func (s *server) examineAlways(ctx context.Context, o *election.Observer, c *exporter.Collector) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		found, err := doctor.Examine(ctx, s.a, doctor.Checks{For: min(watchFor, s.examine), Chosen: true})
		if ctx.Err() != nil {
			return
		}
		if err != nil { // it says why it cannot look
			found.Add(findings.Unknown, "doctor", "rolectl doctor", "%v", err)
		}
		c.Examined(exporter.Examined{Findings: found, Fills: s.fills(ctx, o)}, time.Now().Add(3*s.examine+time.Minute))
		next.Reset(s.examine)
	}
}

// fills measures the streams of the bucket and of the namespaces in which its members work, as far
// as this user may ask for them.
func (s *server) fills(ctx context.Context, o *election.Observer) (all []exporter.Fill) {
	namespaces := map[string]bool{}
	for _, m := range o.Members() {
		for namespace := range m.Assign {
			namespaces[namespace] = true
		}
	}
	streams := []string{"KV_" + s.a.Bucket}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		stream := inventory.TaskStreamPrefix + namespace
		streams = append(streams, stream, inventory.ObjectStreamPrefix+stream)
	}
	for _, stream := range streams[:min(len(streams), mostStreams)] {
		var info jetstream.StreamInfo
		if inventory.AskJetStream(ctx, s.a.Conn, s.a.Reach().API("STREAM.INFO."+stream), nil, &info) != nil {
			continue // it is not there, may not be asked for, or cannot be asked for now: the doctor says which
		}
		if limit := info.Config.MaxBytes; limit > 0 {
			all = append(all, exporter.Fill{
				Stream: stream, Limit: exporter.LimitBytes, Ratio: float64(info.State.Bytes) / float64(limit),
			})
		}
		if limit := info.Config.MaxMsgs; limit > 0 {
			all = append(all, exporter.Fill{
				Stream: stream, Limit: exporter.LimitRecords, Ratio: float64(info.State.Msgs) / float64(limit),
			})
		}
	}
	return all
}
