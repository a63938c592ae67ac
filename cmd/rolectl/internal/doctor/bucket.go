package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// bucket checks the stream of the bucket. An error says that it could not be asked for.
func (x *examination) bucket(ctx context.Context) error {
	name := x.a.Bucket
	state, err := natskv.Inspect(ctx, x.a.Conn, name)
	if errors.Is(err, natskv.ErrBucketNotFound) {
		x.add(critical, "bucket", natskv.Command(natskv.Config{Bucket: name}), "there is no bucket %s", name)
		return nil
	}
	if err != nil {
		return err
	}
	for _, fault := range state.Faults {
		what, fix := fault, "see docs/operations.md"
		if i := strings.LastIndex(fault, ": "); i >= 0 { // what is wrong, then what to do about it
			what, fix = fault[:i], fault[i+2:]
		}
		x.add(critical, "bucket", fix, "%s", what)
	}
	if len(state.Faults) == 0 {
		x.ok("bucket", "%s is fit: %d records, %d watchers", name, state.Keys, state.Watchers)
	}
	x.replicas(state)
	x.room(ctx)
	return nil
}

func (x *examination) replicas(state natskv.State) {
	clustered := x.a.Conn.ConnectedClusterName() != ""
	const fix = "see which servers are down: nats server report jetstream"
	switch {
	case clustered && state.Leader == "":
		x.add(critical, "replicas", fix, "the stream has no leader: nothing can be written, and terms run out")
	case 2*state.Offline >= state.Replicas && state.Offline > 0:
		x.add(critical, "replicas", fix, "%d of %d replicas are offline: there is no quorum", state.Offline, state.Replicas)
	case state.Offline > 0:
		x.add(warning, "replicas", fix, "%d of %d replicas are offline", state.Offline, state.Replicas)
	case state.Lagging > 0:
		x.add(warning, "replicas", "look again in a while; if it stays, see the load and the disks of the servers", "%d of %d replicas lag behind", state.Lagging, state.Replicas)
	case clustered && state.Replicas == 1:
		x.add(warning, "replicas", "nats stream edit KV_"+x.a.Bucket+" --replicas 3", "the bucket is kept on one server of a cluster: without %s nobody leads", state.Leader)
	default:
		x.ok("replicas", "%d", state.Replicas)
	}
	if state.Storage == jetstream.MemoryStorage && state.Replicas == 1 {
		x.add(warning, "storage", "make it anew with file storage, unless the server lives in the one process that uses it", "the bucket lives in the memory of one server, and is lost when that restarts")
	}
}

// room checks how much of what the bucket may hold is used: a full bucket refuses heartbeats.
func (x *examination) room(ctx context.Context) {
	js, err := jetstream.New(x.a.Conn)
	if err != nil {
		return
	}
	s, err := js.Stream(ctx, "KV_"+x.a.Bucket)
	if err != nil { // it was asked for a moment ago: others say what is wrong
		return
	}
	i := s.CachedInfo()
	fix := "raise the limit: nats stream edit KV_" + x.a.Bucket + " --max-bytes=-1 --max-msgs=-1"
	x.checkUsage("limits", "bytes of the bucket", fix, i.State.Bytes, i.Config.MaxBytes)
	x.checkUsage("limits", "records of the bucket", fix, i.State.Msgs, i.Config.MaxMsgs)
}
