package dashboard

import (
	"context"
	"net/url"
	"time"
)

// eventsData is the screen of what has happened.
type eventsData struct {
	Bucket  string      `json:"bucket"`
	Watched time.Time   `json:"watched"`
	Changes []string    `json:"-"`
	Events  []happening `json:"events"`
}

func eventsScreen(_ context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	d := &eventsData{
		Bucket: p.bucket, Watched: p.watched, Events: []happening{},
		Changes: []string{"leader", "silent", "vacant", "joined", "left", "problem", "missed", "steered"},
	}
	matches := func(key, value string) bool { return q.Get(key) == "" || q.Get(key) == value }
	for _, e := range h.hub.events() {
		if matches("role", e.Role) && matches("member", e.Member) && matches("change", e.Change) {
			d.Events = append(d.Events, e)
		}
	}
	return d, nil
}
