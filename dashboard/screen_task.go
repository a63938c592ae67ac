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
	// Saved is the size of the checkpoint of an open task in words, and what it holds is there as
	// the input is.
	Saved            string `json:"checkpoint_size,omitempty"`
	Checkpoint       string `json:"checkpoint,omitempty"`
	CheckpointHidden string `json:"checkpoint_hidden,omitempty"`
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
	case t.Sealed == nil && t.Input == nil:
		d.Hidden = "it is kept for open and dead tasks only"
	default:
		d.Input, d.Hidden = payload(t.Input, t.Sealed)
	}
	switch {
	case t.CheckpointSealed != nil:
		d.Saved = "sealed"
	case len(t.Checkpoint) > 0:
		d.Saved = wording.Count(len(t.Checkpoint), "byte")
	}
	if h.options.ShowPayloads && d.Saved != "" {
		d.Checkpoint, d.CheckpointHidden = payload(t.Checkpoint, t.CheckpointSealed)
	}
	return d, nil
}

// payload is an input or a checkpoint as text, or why it cannot be shown.
func payload(data []byte, e *assign.SealedError) (text, hidden string) {
	switch {
	case e != nil:
		return "", wording.Plain(e)
	case !utf8.Valid(data):
		return "", wording.Count(len(data), "byte") + " that are not text"
	}
	return wording.CleanLines(string(data)), ""
}
