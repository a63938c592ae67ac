package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// scheduling checks that what leads hands out tasks, and that somebody takes them.
func (x *examination) scheduling(ctx context.Context, namespace string, records uint64) string {
	c, err := assign.NewClient(x.a.Conn, assign.ClientConfig{Namespace: namespace})
	if err != nil {
		return "not looked at: a stream of this name is none of tasks"
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, x.a.Target.Timeout)
	defer cancel()
	o, err := inventory.Overview(ctx, x.a.Conn, c, namespace)
	switch {
	case err == nil:
		return x.overview(ctx, namespace, o)
	case errors.Is(err, cli.ErrDenied):
		return fmt.Sprintf("not looked at: %v", err)
	case errors.Is(err, assign.ErrNoScheduler):
		return x.unscheduled(ctx, namespace, records)
	case errors.Is(err, context.DeadlineExceeded):
		x.add(unknown, "tasks", "ask again", "%s: no answer: %v", namespace, err)
	default:
		x.add(critical, "tasks", "see what it says of the stream; rolectl tasks create "+namespace+" --dry-run prints how it should be", "%s: %s", namespace, show.OneLine(err.Error()))
	}
	return ""
}

// seal is the record by which a scheduler shuts out those before it.
type seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
}

// sealOf reads it. Epoch 0: there is none, or this user or this version may not read it.
func (x *examination) sealOf(ctx context.Context, namespace string) seal {
	r, err := inventory.LastRecord(ctx, x.a.Conn, namespace, "seal")
	if err != nil {
		return seal{}
	}
	return readSeal(r.Data)
}

func readSeal(data []byte) (s seal) {
	if json.Unmarshal(data, &s) != nil || s.Version != 1 {
		return seal{}
	}
	return s
}

// unscheduled says what is known while no scheduler answers.
func (x *examination) unscheduled(ctx context.Context, namespace string, records uint64) string {
	const fix = "start a process that leads the role whose Lead hands them out"
	last := x.sealOf(ctx, namespace)
	switch {
	case last.Epoch == 0 && records == 0:
		return "there are none, and nobody has handed out any yet"
	case last.Epoch == 0:
		x.add(warning, "tasks", fix, "%s: %d records, and nobody has handed out tasks yet", namespace, records)
		return ""
	}
	docs, _ := x.s.DescribeRoles() // without names there is no error
	for _, d := range docs {
		if d.Leader != "" && d.Epoch == last.Epoch {
			x.add(critical, "tasks", "see the log of "+d.Leader, "%s: %s leads %s, and does not answer for its tasks", namespace, d.Leader, d.Role)
			return ""
		}
	}
	x.add(warning, "tasks", fix, "%s: nobody hands out tasks; the last was %s at epoch %d", namespace, last.Holder, last.Epoch)
	return ""
}

// overview judges what the scheduler says.
func (x *examination) overview(ctx context.Context, namespace string, o assign.Overview) string {
	if last := x.sealOf(ctx, namespace); last.Epoch != 0 && last.Epoch != o.Epoch {
		x.add(warning, "tasks", "look again in a moment; if it stays, see the log of "+o.Scheduler,
			"%s: %s leads at epoch %d, and the seal is still that of %s at epoch %d: nothing of it is stored before it has written its own",
			namespace, o.Scheduler, o.Epoch, last.Holder, last.Epoch)
	} else if !o.Ready {
		x.add(warning, "tasks", "look again in a moment; if it stays, see which of its workers do not answer: rolectl tasks overview -n "+namespace,
			"%s: %s is still taking over", namespace, o.Scheduler)
	}
	if o.Trouble != "" {
		x.add(critical, "tasks", "do what that says; until then nothing of how tasks end is stored", "%s: %s", namespace, show.OneLine(o.Trouble))
	}
	open := 0
	for _, k := range o.Kinds {
		open += k.Waiting + k.Delayed + k.Running
		for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
			if r, ok := inventory.BlockedReasons[why]; ok && o.Ready {
				fix := strings.NewReplacer("NAMESPACE", namespace, "KIND", show.Clean(k.Kind)).Replace(r.Fix)
				x.add(warning, "tasks", fix, "%s: %d tasks of kind %s wait: %s", namespace, k.Reasons[why], k.Kind, r.Text)
			}
		}
	}
	present, more := 0, ""
	for _, w := range o.Workers {
		if w.Session != 0 {
			present++
		}
	}
	if o.Omitted > 0 {
		more = " at least"
	}
	return fmt.Sprintf("%d open, handed out by %s to%s %d workers", open, o.Scheduler, more, present)
}
