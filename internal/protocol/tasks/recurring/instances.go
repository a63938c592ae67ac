package recurring

import (
	"maps"
	"slices"
	"strings"
)

// Prefix begins the ids of tasks of recurrences: of ticks, and of those that somebody runs by hand.
// The name of the recurrence follows, a stroke, and what tells them apart.
const Prefix = "cron/"

// Instances are the open tasks of recurrences: ids, by the name of the recurrence.
type Instances map[string]map[string]struct{}

// nameOf is the name of the recurrence whose task has an id, "" for none.
func nameOf(id string) string {
	id, ok := strings.CutPrefix(id, Prefix)
	if !ok {
		return ""
	}
	return id[:max(strings.LastIndexByte(id, '/'), 0)]
}

// Add takes down that a task is open, if it is of a recurrence.
func (i Instances) Add(id string) {
	name := nameOf(id)
	if name == "" {
		return
	}
	if i[name] == nil {
		i[name] = map[string]struct{}{}
	}
	i[name][id] = struct{}{}
}

// Remove takes down that a task is not open any more. It returns the name of its recurrence, "" for
// none, and whether it was the last one of that.
func (i Instances) Remove(id string) (name string, last bool) {
	name = nameOf(id)
	if i[name] == nil {
		return name, false
	}
	delete(i[name], id)
	if len(i[name]) > 0 {
		return name, false
	}
	delete(i, name)
	return name, true
}

// Open reports whether a task of a recurrence is open.
func (i Instances) Open(name string) bool { return len(i[name]) > 0 }

// Of are the open tasks of a recurrence, in the order of their ids.
func (i Instances) Of(name string) []string { return slices.Sorted(maps.Keys(i[name])) }
