package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// screen is one of the pages.
type screen struct {
	path, Title string
	// asks are the parameters of its URL.
	asks []string
	// every is how old its answer may be, 0 for not older than the picture.
	every time.Duration
	// InMenu says that the menu leads there.
	InMenu bool
	// data is what the screen shows, and its JSON.
	data func(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error)
}

// listEvery is how often a listing of tasks is asked for again.
const listEvery = 3 * time.Second

var screens = []*screen{
	{path: "", Title: "Now", asks: []string{"q", "show", "page"}, InMenu: true, data: nowScreen},
	{path: "role", Title: "Role", asks: []string{"name"}, data: roleScreen},
	{
		path: "members", Title: "Members", asks: []string{"q", "page"}, every: 2 * time.Second, InMenu: true,
		data: membersScreen,
	},
	{
		path: "tasks", Title: "Tasks", asks: []string{"n", "state", "kind", "prefix", "cursor"}, every: listEvery,
		InMenu: true, data: tasksScreen,
	},
	{path: "task", Title: "Task", asks: []string{"n", "id"}, every: listEvery, data: taskScreen},
	{
		path: "dead", Title: "Dead", asks: []string{"n", "kind", "prefix", "cursor"}, every: listEvery, InMenu: true,
		data: deadScreen,
	},
	{
		path: "groups", Title: "Groups", asks: []string{"n", "prefix", "cursor"}, every: listEvery, InMenu: true,
		data: groupsScreen,
	},
	{path: "group", Title: "Group", asks: []string{"n", "name"}, every: listEvery, data: groupScreen},
	{
		path: "recurrences", Title: "Recurrences", asks: []string{"n", "prefix", "cursor"}, every: listEvery, InMenu: true,
		data: recurrencesScreen,
	},
	{path: "doctor", Title: "Doctor", InMenu: true, data: doctorScreen},
	{path: "events", Title: "Events", asks: []string{"role", "member", "change"}, InMenu: true, data: eventsScreen},
}

// name is that of its template.
func (s *screen) name() string {
	switch s.path {
	case "":
		return "now"
	case "events":
		return "happenings" // "events" is the table in it
	}
	return s.path
}

// JSON is the path of its twin.
func (s *screen) JSON(base string) string {
	if s.path == "" {
		return base + "/now.json"
	}
	return base + "/" + s.path + ".json"
}

// Href is where the menu leads.
func (s *screen) Href(base string) string { return base + "/" + s.path }

// paging is which part of a list is shown.
type paging struct {
	Page  int `json:"page"`
	Pages int `json:"pages"`
	Total int `json:"total"`
}

// perPage is how many rows a page of roles or members has.
const perPage = 100

// Before and After are the pages beside it.
func (p paging) Before() int { return p.Page - 1 }
func (p paging) After() int  { return p.Page + 1 }

// pageOf cuts the part that a URL asks for.
func pageOf[T any](all []T, q url.Values) ([]T, paging, error) {
	p := paging{Page: 1, Pages: max((len(all)+perPage-1)/perPage, 1), Total: len(all)}
	if asked := q.Get("page"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 {
			return nil, p, fmt.Errorf("%w: page %q", errQuestion, asked)
		}
		p.Page = min(n, p.Pages)
	}
	from := (p.Page - 1) * perPage
	return all[from:min(from+perPage, len(all))], p, nil
}
