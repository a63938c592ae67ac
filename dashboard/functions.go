package dashboard

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// functions are those that the templates call.
func (h *Handler) functions() template.FuncMap {
	return template.FuncMap{
		"mark":   begin,
		"done":   end,
		"clean":  wording.Clean,
		"lines":  wording.CleanLines,
		"age":    wording.Age,
		"join":   func(list []string) string { return wording.Clean(strings.Join(list, ", ")) },
		"count":  func(n int, noun string) string { return wording.Count(n, noun) },
		"utc":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"stamp":  func(t time.Time) int64 { return t.UnixMilli() },
		"url":    h.link,
		"steers": func() bool { return h.options.Steer != nil },
		"class":  class,
		"before": func(t time.Time, d time.Duration) time.Time { return t.Add(-d).Truncate(time.Second) },
		"bars":   bars,
		"gap": func(t term) string {
			if t.Gap <= 0 {
				return ""
			}
			return wording.Age(time.Duration(t.Gap).Round(time.Millisecond))
		},
		"alter":   alter,
		"groupOf": groupOf,
		"cursor": func(q url.Values, next string) string {
			return alter(q, "cursor", next)
		},
		"pagesOf":  func(q url.Values, p paging) any { return map[string]any{"Query": q, "Paging": p} },
		"screenOf": func(screen string, data any) any { return map[string]any{"Screen": screen, "Data": data} },
		"listOf": func(q url.Values, namespace string, rows []taskRow, next, problem string) any {
			return map[string]any{"Query": q, "Namespace": namespace, "Tasks": rows, "Next": next, "Problem": problem}
		},
		"states": func() []assign.State { return taskStates },
	}
}

// taskStates are those that the list of tasks can be limited to.
var taskStates = []assign.State{
	assign.StatePending, assign.StateDelayed, assign.StateRunning, assign.StateRetrying, assign.StateSucceeded,
	assign.StateDead, assign.StateCancelled, assign.StateExpired, assign.StateSkipped,
}

// link is the URL of a screen with its parameters: name, value, name, value.
func (h *Handler) link(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	to := h.options.BasePath + "/" + path
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// alter is the query of a URL with one parameter changed.
func alter(q url.Values, name string, value any) string {
	changed := url.Values{}
	for k, v := range q {
		changed[k] = v
	}
	changed.Del("cursor")
	changed.Set(name, fmt.Sprint(value))
	return "?" + changed.Encode()
}

// class makes a word fit for the class of an element.
func class(word any) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(fmt.Sprint(word)))
}
