package doctor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// maxNamespaces bounds the number of namespaces that are checked.
const maxNamespaces = 100

// tasks checks every namespace that members work in, as far as this user may read. Unless the user
// has chosen a bucket it checks those too that the server has: nothing in them names their bucket.
func (x *examination) tasks(ctx context.Context) {
	found := map[string]bool{}
	for _, m := range x.s.Members() {
		for namespace := range m.Assign {
			found[namespace] = true
		}
	}
	var page struct {
		Streams []string `json:"streams"`
	}
	var others []string
	names := x.a.Reach().API("STREAM.NAMES")
	err := inventory.AskJetStream(ctx, x.a.Conn, names, nil, &page)
	if errors.Is(err, cli.ErrDenied) && !x.chosen {
		x.unchecked("tasks",
			"namespaces in which no member of bucket %s works are not known: this user may not publish to %s", x.a.Bucket, names)
	}
	if err == nil {
		for _, stream := range page.Streams {
			namespace, ok := strings.CutPrefix(stream, inventory.TaskStreamPrefix)
			switch {
			case !ok || found[namespace]:
			case x.chosen:
				others = append(others, namespace)
			default:
				found[namespace] = true
			}
		}
	}
	if len(others) > 0 {
		x.OK("tasks", "not checked, because no member of bucket %s works there: %s", x.a.Bucket, wording.FirstFew(others))
	}
	namespaces := slices.Sorted(maps.Keys(found))
	for _, namespace := range namespaces[:min(len(namespaces), maxNamespaces)] {
		if ctx.Err() != nil {
			return
		}
		before := len(x.List)
		said, there := x.namespace(ctx, namespace)
		if len(x.List) == before {
			x.OK("tasks", "%s: %s", namespace, said)
		}
		if there {
			x.dead(ctx, namespace)
			x.objects(ctx, namespace)
		}
	}
}

// objects checks the store for large outputs. A missing store is reported, and is not a fault:
// workers that may create it do so with the first large output, and small outputs do not need it.
func (x *examination) objects(ctx context.Context, namespace string) {
	stream := inventory.ObjectStreamPrefix + inventory.TaskStreamPrefix + namespace
	var info jetstream.StreamInfo
	err := inventory.AskJetStream(ctx, x.a.Conn, x.a.Reach().API("STREAM.INFO."+stream), nil, &info)
	var missing *jetstream.APIError
	switch {
	case err == nil:
		if info.Config.AllowDirect {
			x.Add(findings.Critical, "tasks", "nats stream edit "+stream+" --no-allow-direct",
				"%s: stream %s answers direct gets, so a user who may store an object can forge any record of the account; "+
					"workers store no objects there", namespace, stream)
		}
		x.checkUsage("tasks", namespace+": bytes of the object store", "raise max_bytes (nats stream edit "+stream+")",
			info.State.Bytes, info.Config.MaxBytes)
	case errors.Is(err, cli.ErrDenied):
		x.unchecked("tasks", "%s: the object store was not checked: this user may not read stream %s", namespace, stream)
	case errors.As(err, &missing) && missing.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		x.OK("tasks",
			"%s: there is no object store: outputs above 64 KiB wait until a worker (StreamAutoCreate) or rolectl tasks "+
				"create %[1]s creates it", namespace)
	default:
		x.Add(findings.Unknown, "tasks", "try again", "%s: no answer about stream %s: %s", namespace, stream, err)
	}
}

// namespace checks one namespace. It returns its state for the report if nothing is wrong, and
// whether its stream exists.
func (x *examination) namespace(ctx context.Context, namespace string) (said string, there bool) {
	stream := inventory.TaskStreamPrefix + namespace
	var info jetstream.StreamInfo
	err := inventory.AskJetStream(ctx, x.a.Conn, x.a.Reach().API("STREAM.INFO."+stream), nil, &info)
	var missing *jetstream.APIError
	switch {
	case errors.Is(err, cli.ErrDenied):
		x.unchecked("tasks", "%s: not checked: this user may not read stream %s", namespace, stream)
		return "", false
	case errors.As(err, &missing) && missing.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		x.Add(findings.Critical, "tasks",
			"rolectl tasks create "+namespace, "%s: members work there, and stream %s does not exist",
			namespace, stream)
		return "", false
	case err != nil:
		x.Add(findings.Unknown, "tasks", "try again", "%s: no answer about stream %s: %s", namespace, stream, err)
		return "", false
	}
	fix := "raise max_bytes and max_msgs (nats stream edit " + stream + "), or keep outcomes for less time (Retention)"
	x.checkUsage("tasks", namespace+": bytes of the stream", fix, info.State.Bytes, info.Config.MaxBytes)
	x.checkUsage("tasks", namespace+": records of the stream", fix, info.State.Msgs, info.Config.MaxMsgs)
	return x.scheduling(ctx, namespace, info.State.Msgs), true
}
