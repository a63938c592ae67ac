package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// bucket checks the stream of the bucket. It returns an error if the server cannot tell about the
// stream.
func (x *examination) bucket(ctx context.Context) error {
	name := x.a.Bucket
	state, err := x.a.Reach().Inspect(ctx, x.a.Conn, name)
	if errors.Is(err, natskv.ErrBucketNotFound) {
		fix := natskv.Command(natskv.Config{Bucket: name, Reach: x.a.Reach()})
		x.Add(findings.Critical, "bucket", fix, "bucket %s does not exist", name)
		return nil
	}
	if err != nil {
		return err
	}
	x.id = state.ID
	for _, fault := range state.Faults {
		what, fix := fault, "see docs/operations.md"
		if i := strings.LastIndex(fault, ": "); i >= 0 { // first the fault, then its fix
			what, fix = fault[:i], fault[i+2:]
		}
		x.Add(findings.Critical, "bucket", fix, "%s", what)
	}
	if state.Ordinary { // whose data it keeps, and how, is not ours to judge
		return nil
	}
	if len(state.Faults) == 0 {
		x.OK("bucket", "%s is fit: %s, %s", name, wording.Count(uint64(state.Keys), "record"),
			wording.Count(uint64(state.Watchers), "watcher"))
	}
	switch {
	case errors.As(state.Copied, new(*natskv.AdoptingError)):
		x.Add(findings.Critical, "identity", "wait until that has ended; if it was interrupted: rolectl bucket adopt "+name,
			"%s is being adopted: nobody opens it meanwhile", name)
	case state.Copied != nil:
		x.Add(findings.Critical, "identity", "rolectl bucket adopt "+name, "%s", wording.Plain(state.Copied))
	case state.Undescribed && len(state.Faults) == 0:
		x.Add(findings.Warning, "identity", "rolectl bucket check "+name+" --fix",
			"the metadata does not say where %s is: a copy could not be told from it", name)
	default:
		x.OK("identity", "%s", state.Identity)
	}
	x.namesakes(ctx, state.Identity)
	x.replicas(state)
	x.room(ctx)
	return nil
}

// namesakes asks which buckets of this name others use. Of a leaf node and its hub without
// JetStream domains each may have its own. No answer means nothing.
func (x *examination) namesakes(ctx context.Context, own natskv.Identity) {
	if !x.a.Reach().IsZero() || own.Domain != "" { // sites with domains may each have one
		return
	}
	answers, _, _ := inventory.AskServers(ctx, x.a.Conn, natskv.KeeperSubject(x.a.Bucket), nil)
	for _, m := range answers {
		if other := natskv.ReadKeeper(m.Data); other.ID != "" && other.ID != own.ID {
			x.Add(findings.Critical, "identity",
				"give each JetStream of a leaf link a domain, let all processes name that of one "+
					"bucket, and delete the other one (docs/guides/leaf-nodes.md)",
				"processes in this NATS system use another bucket %s, which has its own leaders: %s", x.a.Bucket, other)
		}
	}
}

func (x *examination) replicas(state natskv.State) {
	clustered := state.Cluster != "" || x.a.Reach().IsZero() && x.a.Conn.ConnectedClusterName() != ""
	const fix = "find the servers that are down: nats server report jetstream"
	switch {
	case clustered && state.Leader == "":
		x.Add(findings.Critical, "replicas", fix, "the stream has no leader: nothing can be written, and terms will run out")
	case 2*state.Offline >= state.Replicas && state.Offline > 0:
		x.Add(findings.Critical, "replicas",
			fix, "%d of %d replicas are offline: there is no quorum", state.Offline, state.Replicas)
	case state.Offline > 0:
		x.Add(findings.Warning, "replicas", fix, "%d of %d replicas are offline", state.Offline, state.Replicas)
	case state.Lagging > 0:
		x.Add(findings.Warning, "replicas",
			"check again in a while; if it persists, check the load and the disks of the servers",
			"%d of %d replicas lag behind", state.Lagging, state.Replicas)
	case clustered && state.Replicas == 1:
		x.Add(findings.Warning, "replicas", "nats stream edit KV_"+x.a.Bucket+" --replicas 3",
			"the bucket is kept on one server of a cluster: without %s nobody can lead", state.Leader)
	default:
		x.OK("replicas", "%d", state.Replicas)
	}
	switch volatile := state.Storage == jetstream.MemoryStorage && state.Replicas == 1; {
	case volatile && x.a.Conn.ConnectedServerName() == findings.DevMember:
		x.OK("storage", "in memory, until rolectl dev ends")
	case volatile:
		x.Add(findings.Warning, "storage",
			"recreate it with file storage, unless the server runs inside the only process that uses it",
			"the bucket is kept in the memory of one server, and is lost when the server restarts")
	}
}

// room checks how full the bucket is: a full bucket refuses heartbeats.
func (x *examination) room(ctx context.Context) {
	js, err := x.a.Reach().JetStream(x.a.Conn)
	if err != nil {
		return
	}
	s, err := js.Stream(ctx, "KV_"+x.a.Bucket)
	if err != nil { // it answered a moment ago: other checks tell what is wrong
		return
	}
	i := s.CachedInfo()
	fix := "raise the limit: nats stream edit KV_" + x.a.Bucket + " --max-bytes=-1 --max-msgs=-1"
	x.checkUsage("limits", "bytes of the bucket", fix, i.State.Bytes, i.Config.MaxBytes)
	x.checkUsage("limits", "records of the bucket", fix, i.State.Msgs, i.Config.MaxMsgs)
}
