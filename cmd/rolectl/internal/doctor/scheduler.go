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

// scheduling checks that a scheduler hands out the tasks of a namespace, and that workers take
// them.
func (x *examination) scheduling(ctx context.Context, namespace string, records uint64) string {
	c, err := assign.NewClient(x.a.Conn, assign.ClientConfig{Namespace: namespace})
	if err != nil {
		return "not checked: its name is not a valid namespace"
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, x.a.Target.Timeout)
	defer cancel()
	o, err := inventory.Overview(ctx, x.a.Conn, c, namespace)
	switch {
	case err == nil:
		return x.overview(ctx, namespace, o)
	case errors.Is(err, cli.ErrDenied):
		return "not checked: " + cli.Plain(err)
	case errors.Is(err, assign.ErrNoScheduler):
		return x.unscheduled(ctx, namespace, records)
	case errors.Is(err, context.DeadlineExceeded):
		x.add(unknown, "tasks", "try again", "%s: no answer: %s", namespace, cli.Plain(err))
	default:
		x.add(critical, "tasks", "compare the stream with what rolectl tasks create "+namespace+" --dry-run prints", "%s: %s",
			namespace, show.OneLine(err.Error()))
	}
	return ""
}

// seal is the record with which a scheduler shuts out earlier schedulers.
type seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
}

// sealOf reads the seal of a namespace. Epoch 0: there is no seal, or it cannot be read by this
// user or this version.
func (x *examination) sealOf(ctx context.Context, namespace string) seal {
	r, err := inventory.LastRecord(ctx, x.a.Conn, x.a.Reach(), namespace, "seal")
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

// unscheduled reports what is known while no scheduler answers.
func (x *examination) unscheduled(ctx context.Context, namespace string, records uint64) string {
	const fix = "start a process that leads the scheduler role"
	last := x.sealOf(ctx, namespace)
	switch {
	case last.Epoch == 0 && records == 0:
		return "no tasks, and no scheduler yet"
	case last.Epoch == 0:
		x.add(warning, "tasks", fix, "%s: %s, and no scheduler yet", namespace, show.Count(records, "record"))
		return ""
	}
	docs, _ := x.s.DescribeRoles() // without names there is no error
	for _, d := range docs {
		if d.Leader != "" && d.Epoch == last.Epoch {
			x.add(critical, "tasks", "check the log of "+d.Leader, "%s: %s leads %s, and does not answer questions about tasks",
				namespace, d.Leader, d.Role)
			return ""
		}
	}
	x.add(warning, "tasks", fix, "%s: there is no scheduler; the last one was %s at epoch %d", namespace, last.Holder,
		last.Epoch)
	return ""
}

// overview judges the answer of the scheduler.
func (x *examination) overview(ctx context.Context, namespace string, o assign.Overview) string {
	if last := x.sealOf(ctx, namespace); last.Epoch != 0 && last.Epoch != o.Epoch {
		x.add(warning, "tasks", "check again in a moment; if it persists, check the log of "+o.Scheduler,
			"%s: %s leads at epoch %d, and the seal is still that of %s at epoch %d: the new scheduler stores nothing before "+
				"its own seal",
			namespace, o.Scheduler, o.Epoch, last.Holder, last.Epoch)
	} else if !o.Ready {
		x.add(warning, "tasks",
			"check again in a moment; if it persists, find the workers that do not answer: rolectl tasks overview -n "+namespace,
			"%s: %s is still taking over", namespace, o.Scheduler)
	}
	if o.Trouble != "" {
		x.add(critical, "tasks", "follow that advice; until then no outcome of a task is stored", "%s: %s", namespace,
			show.OneLine(o.Trouble))
	}
	open := 0
	for _, k := range o.Kinds {
		open += k.Waiting + k.Delayed + k.Running
		for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
			if r, ok := inventory.BlockedReasons[why]; ok && o.Ready {
				fix := strings.NewReplacer("NAMESPACE", namespace, "KIND", show.Clean(k.Kind)).Replace(r.Fix)
				x.add(warning, "tasks", fix, "%s: %s of kind %s waiting: %s", namespace, show.Count(k.Reasons[why], "task"), k.Kind,
					r.Text)
			}
		}
	}
	present, more := 0, ""
	for _, w := range o.Workers {
		if w.Session != 0 {
			present++
		}
		if w.Unreachable {
			x.unreached(namespace, o.Scheduler, &w)
		}
	}
	if o.Omitted > 0 {
		more = " at least"
	}
	return fmt.Sprintf("%d open, handed out by %s to%s %s", open, o.Scheduler, more, show.Count(present, "worker"))
}

// unreached judges a worker that messages of the scheduler do not reach.
func (x *examination) unreached(namespace, scheduler string, w *assign.WorkerOverview) {
	const fix = "check again in a moment; if it persists, see that it may subscribe to $TASKS.%s.*.work.*.%s, and that " +
		"both halves of each account import and leaf node on the way let these messages and its answers through"
	level, held := warning, "it is given nothing"
	if w.Load > 0 {
		level, held = critical, "what it has stays with it until it answers or is stopped"
	}
	x.add(level, "tasks", fmt.Sprintf(fix, namespace, show.Clean(w.Instance)),
		"%s: messages of %s do not reach worker %s: %s", namespace, scheduler, w.Instance, held)
}
