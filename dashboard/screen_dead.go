package dashboard

import (
	"context"
	"net/url"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// deadData is the screen of the dead tasks of a namespace.
type deadData struct {
	Namespace  string       `json:"namespace"`
	Namespaces []string     `json:"namespaces"`
	Now        namespaceNow `json:"now"`
	Tasks      []taskRow    `json:"tasks"`
	Next       string       `json:"next,omitempty"`
	Problem    string       `json:"problem,omitempty"`
}

func deadScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, names, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	d := &deadData{Namespace: now.Name, Namespaces: names, Now: now}
	d.Tasks, d.Next, err = listTasks(ctx, c, q, []assign.State{assign.StateDead})
	if err != nil {
		if statusOf(err) < 500 {
			return nil, err
		}
		d.Problem = wording.OneLine(wording.Plain(err))
	}
	return d, nil
}
