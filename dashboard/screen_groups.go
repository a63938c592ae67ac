package dashboard

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	groupsPerPage = 25
	// groupRounds bounds how many pages one drawing asks for: a record outlives its group.
	groupRounds = 4
	// groupPrefix begins the ids of completions and members.
	groupPrefix = "group/"
)

// groupsData is the screen of the groups of a namespace.
type groupsData struct {
	Namespace  string     `json:"namespace"`
	Namespaces []string   `json:"namespaces"`
	Groups     []groupRow `json:"groups"`
	Next       string     `json:"next,omitempty"`
	Problem    string     `json:"problem,omitempty"` // why they are not listed
}

// groupRow is a group in the table.
type groupRow struct {
	assign.GroupStatus
	// Unsuccessful members have ended other than by success, and Left ones have not ended.
	Unsuccessful int `json:"unsuccessful"`
	Left         int `json:"left"`
	// Why says in words what the completion waits for.
	Why string `json:"why,omitempty"`
}

func groupsScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, names, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	d := &groupsData{Namespace: now.Name, Namespaces: names, Groups: []groupRow{}}
	o := assign.GroupListOptions{Prefix: q.Get("prefix"), Limit: groupsPerPage, Cursor: q.Get("cursor")}
	for range groupRounds {
		page, err := assign.ListGroups(ctx, c, o)
		if err != nil {
			if statusOf(err) < 500 {
				return nil, err
			}
			if d.Problem = wording.OneLine(wording.Plain(err)); errors.Is(err, context.DeadlineExceeded) {
				d.Problem = "no answer: see whether the user of this page may list the records g.> of the namespace"
			}
			return d, nil
		}
		for i := range page.Groups {
			d.Groups = append(d.Groups, groupRowOf(&page.Groups[i]))
		}
		o.Cursor, d.Next = page.Next, page.Next
		if o.Cursor == "" || len(d.Groups) >= groupsPerPage/2 {
			break
		}
	}
	return d, nil
}

func groupRowOf(s *assign.GroupStatus) groupRow {
	row := groupRow{
		GroupStatus: *s, Unsuccessful: s.Dead + s.Cancelled + s.Expired + s.Skipped + s.Lost, Left: s.Open + s.Missing,
	}
	row.Completion.Headers = nil // the screen of the task shows them, if payloads are shown
	switch {
	case s.Missing > 0 && !s.Completion.State.Terminal():
		row.Why = wording.Count(s.Missing, "member") + " not submitted so far"
	case s.Completion.Reason != "":
		row.Why = wording.Words(string(s.Completion.Reason))
	case !s.Completion.State.Terminal() && s.Open > 0:
		row.Why = wording.Count(s.Open, "member") + " to end"
	}
	return row
}

// Ended is how many members have ended.
func (g groupRow) Ended() int { return g.Succeeded + g.Unsuccessful }

// groupData is the screen of one group.
type groupData struct {
	Namespace string   `json:"namespace"`
	Group     groupRow `json:"group"`
	// MoreFailed is how many members did not succeed beside those that Failed names.
	MoreFailed int `json:"more_failed,omitempty"`
}

// mostFailed is how many members that did not succeed are named.
const mostFailed = 100

func groupScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, _, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	s, err := assign.GroupRef{Group: q.Get("name")}.Status(ctx, c)
	if err != nil {
		return nil, err
	}
	s.Failed = s.Failed[:min(len(s.Failed), mostFailed)]
	d := &groupData{Namespace: now.Name, Group: groupRowOf(&s)}
	d.MoreFailed = d.Group.Unsuccessful - len(s.Failed)
	return d, nil
}

// groupOf is the name of the group that a task completes or belongs to, "" for none.
func groupOf(id string) string {
	rest, ok := strings.CutPrefix(id, groupPrefix)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
