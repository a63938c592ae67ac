package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/rolemanager/rolemanager/assign"
)

// act is something that a person can do, once it is confirmed.
type act struct {
	// Title and Meaning say what it does.
	Title, Meaning string
	// Needs are the parameters that name what it is done to.
	Needs []string
	run   func(ctx context.Context, h *Handler, who string, q url.Values) error
}

// acts are all of them, by name. They go through the same requests as rolectl.
var acts = map[string]act{
	"step-down": {
		"Step down", "The leader ends its work and gives the role to the next in line.",
		[]string{"role", "epoch"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			epoch, err := epochOf(q)
			if err != nil {
				return err
			}
			_, err = h.options.Observer.StepDown(ctx, q.Get("role"), epoch)
			return err
		},
	},
	"transfer": {
		"Hand over", "The leader ends its work and gives the role to this instance, if it is ready.",
		[]string{"role", "epoch", "instance"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			epoch, err := epochOf(q)
			if err != nil {
				return err
			}
			return h.options.Observer.Transfer(ctx, q.Get("role"), q.Get("instance"), epoch)
		},
	},
	"pause": {
		"Pause", "This instance does not lead the role until it is resumed or restarted. If it leads, it steps down.",
		[]string{"role", "instance"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			return h.options.Observer.Pause(ctx, q.Get("role"), q.Get("instance"))
		},
	},
	"resume": {
		"Resume", "This instance may lead the role again. A cool-down ends too.",
		[]string{"role", "instance"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			return h.options.Observer.Resume(ctx, q.Get("role"), q.Get("instance"))
		},
	},
	"cancel": {
		"Cancel", "The task ends as cancelled, whatever its handler returns.",
		[]string{"n", "id"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			t, err := assign.Get(ctx, c, q.Get("id"))
			if err != nil {
				return err
			}
			k, err := assign.MakeKind[[]byte, []byte](t.Kind)
			if err != nil {
				return err
			}
			return assign.Find(c, k, t.ID).Cancel(ctx)
		},
	},
	"requeue": {
		"Requeue", "The dead task runs again with the same input and all its attempts.",
		[]string{"n", "id"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.Requeue(ctx, c, q.Get("id"))
		},
	},
	"requeue-all": {
		"Requeue all of these", "Every dead task that the filter selects runs again, with its input and all its attempts.",
		[]string{"n", "kind", "prefix"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			o := assign.BulkOptions{ListOptions: assign.ListOptions{Prefix: q.Get("prefix")}}
			if k := q.Get("kind"); k != "" {
				o.Kinds = []string{k}
			}
			did, err := assign.RequeueAll(ctx, c, o)
			if err == nil && did.Failed > 0 {
				err = fmt.Errorf("%d tasks were requeued, and %d not: %s", did.Done, did.Failed, did.Faults[0].Error)
			}
			return err
		},
	},
	"pause-kind": {
		"Pause this kind", "Its tasks are not handed out until it is resumed. Tasks that run continue.",
		[]string{"n", "kind"},
		func(ctx context.Context, h *Handler, who string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.PauseKind(ctx, c, q.Get("kind"), "on the page by "+who)
		},
	},
	"resume-kind": {
		"Resume this kind", "Its tasks are handed out again.",
		[]string{"n", "kind"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.ResumeKind(ctx, c, q.Get("kind"))
		},
	},
	"pause-recurrence": {
		"Pause this recurrence",
		"It fires no ticks until it is resumed, and none of these is caught up with. Its tasks continue.",
		[]string{"n", "name"},
		func(ctx context.Context, h *Handler, who string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.PauseRecurrence(ctx, c, q.Get("name"), "on the page by "+who)
		},
	},
	"resume-recurrence": {
		"Resume this recurrence", "It fires its ticks again, from now on.",
		[]string{"n", "name"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.ResumeRecurrence(ctx, c, q.Get("name"))
		},
	},
	"run-recurrence": {
		"Run now", "Its task is submitted now, beside its ticks. No tick is moved by that.",
		[]string{"n", "name"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			_, err = assign.RunRecurrence(ctx, c, q.Get("name"))
			return err
		},
	},
	"drain": {
		"Drain this worker", "It is given no tasks until the drain ends. Tasks that it runs continue.",
		[]string{"n", "instance"},
		func(ctx context.Context, h *Handler, who string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.DrainWorker(ctx, c, q.Get("instance"), "on the page by "+who)
		},
	},
	"undrain": {
		"End the drain", "The worker is given tasks again.",
		[]string{"n", "instance"},
		func(ctx context.Context, h *Handler, _ string, q url.Values) error {
			c, err := h.client(q)
			if err != nil {
				return err
			}
			return assign.UndrainWorker(ctx, c, q.Get("instance"))
		},
	},
}

// epochOf is the epoch that the person has seen: an act does nothing to a later term.
func epochOf(q url.Values) (uint64, error) {
	epoch, err := strconv.ParseUint(q.Get("epoch"), 10, 64)
	if err != nil || epoch == 0 {
		return 0, fmt.Errorf("%w: epoch %q", errQuestion, q.Get("epoch"))
	}
	return epoch, nil
}

// client is the one of the namespace that is named.
func (h *Handler) client(q url.Values) (*assign.Client, error) {
	for _, c := range h.options.Tasks {
		if c.Namespace() == q.Get("n") {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: namespace %q is not shown here", errNotThere, q.Get("n"))
}
