package dashboard

import (
	"context"
	"net/url"
	"unicode/utf8"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// taskData is the screen of one task.
type taskData struct {
	Namespace string            `json:"namespace"`
	Task      assign.TaskStatus `json:"task"`
	// Why says in words why it waits, and Fix what would end that.
	Why string `json:"why,omitempty"`
	Fix string `json:"fix,omitempty"`
	// Input is there if payloads are shown. Hidden says why it is not.
	Input  string `json:"input,omitempty"`
	Hidden string `json:"input_hidden,omitempty"`
}

func taskScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, _, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	t, err := assign.Get(ctx, c, q.Get("id"))
	if err != nil {
		return nil, err
	}
	d := &taskData{Namespace: now.Name, Task: t}
	if t.Reason != "" {
		d.Why = wording.Words(string(t.Reason))
		if text, fix, blocked := findings.Advice(now.Name, t.Kind, t.Reason); blocked {
			d.Why, d.Fix = text, fix
		}
	}
	switch {
	case !h.options.ShowPayloads:
		d.Hidden = "inputs are not shown on this page"
		d.Task.Headers = nil
	case t.Sealed != nil:
		d.Hidden = t.Sealed.Error()
	case t.Input == nil:
		d.Hidden = "it is kept for open and dead tasks only"
	case !utf8.Valid(t.Input):
		d.Hidden = wording.Count(len(t.Input), "byte") + " that are not text"
	default:
		d.Input = wording.CleanLines(string(t.Input))
	}
	return d, nil
}
