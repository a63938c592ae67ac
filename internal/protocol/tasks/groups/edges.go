package groups

import (
	"iter"
	"maps"
	"slices"
)

// After says what a task waits for.
type After struct {
	IDs   []string // of tasks
	Ended bool     // it runs once they have ended, however they did
	Group int      // it completes a group of so many members; 0: of none, else the others are empty
}

// End is what is known about a task that another one waits for.
type End uint8

const (
	Unknown   End = iota // it is open, or that is not known
	Succeeded            // its outcome stands, and stays
	Otherwise            // likewise, and it has not succeeded
	Missing              // there is no such task
)

// Verdict is what may become of a task that waits for others.
type Verdict uint8

const (
	Wait Verdict = iota
	Run
	Skip
)

// Edges are the dependencies of the open tasks. An edge exists for as long as the task that has it:
// until then the outcome at its other end is kept.
//
// Invariant: no task waits for itself, over any number of edges. An edge leads to a task that was
// submitted before; Later shuts out the others.
type Edges struct {
	waits map[string]*dependent // by the task that waits
	ends  map[string]*upstream  // by the task that is waited for
}

type dependent struct {
	after *After
	later bool // it names itself, or a task that was submitted after it and waits itself
}

type upstream struct {
	end End
	by  []string // the tasks that wait for it
}

// NewEdges returns none.
func NewEdges() *Edges {
	return &Edges{waits: map[string]*dependent{}, ends: map[string]*upstream{}}
}

// Add takes down what a task waits for.
func (e *Edges) Add(id string, a *After) {
	e.waits[id] = &dependent{after: a, later: slices.Contains(a.IDs, id)}
	for _, up := range a.IDs {
		u := e.ends[up]
		if u == nil {
			u = &upstream{}
			e.ends[up] = u
		}
		u.by = append(u.by, id)
	}
}

// After is what a task waits for, or has waited for; nil for nothing.
func (e *Edges) After(id string) *After {
	if w := e.waits[id]; w != nil {
		return w.after
	}
	return nil
}

// Known reports whether the outcome of a task that is waited for stands, and stays.
func (e *Edges) Known(id string) bool {
	u := e.ends[id]
	return u != nil && u.known()
}

func (u *upstream) known() bool { return u.end == Succeeded || u.end == Otherwise }

// Needed reports whether an open task names this one.
func (e *Edges) Needed(id string) bool { return e.ends[id] != nil }

// Later shuts out the edges that lead to a task which has just been submitted and waits itself: the
// tasks that have them were submitted before it. It returns these.
func (e *Edges) Later(id string) []string {
	u := e.ends[id]
	if u == nil {
		return nil
	}
	for _, by := range u.by {
		e.waits[by].later = true
	}
	return slices.Clone(u.by)
}

// Set takes down what is known about a task that others wait for, and returns those.
func (e *Edges) Set(id string, end End) []string {
	u := e.ends[id]
	if u == nil {
		return nil
	}
	u.end = end
	return slices.Clone(u.by)
}

// Open are the tasks that are waited for, and about which nothing is known, in the order of their
// ids.
func (e *Edges) Open() (all []string) {
	for _, id := range slices.Sorted(maps.Keys(e.ends)) {
		if e.ends[id].end == Unknown {
			all = append(all, id)
		}
	}
	return all
}

// Waiting are the tasks that wait, in the order of their ids.
func (e *Edges) Waiting() iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(e.waits)))
}

// Judge says what may become of a task that waits.
func (e *Edges) Judge(id string) Verdict {
	w := e.waits[id]
	if w == nil {
		return Run
	}
	if w.later {
		return Skip
	}
	v := Run
	for _, up := range w.after.IDs {
		switch e.ends[up].end {
		case Unknown:
			v = Wait
		case Missing:
			return Skip
		case Otherwise:
			if !w.after.Ended {
				return Skip
			}
		}
	}
	return v
}

// Remove drops a task that has ended, and returns the tasks whose outcomes stay for nobody any
// more.
func (e *Edges) Remove(id string) (free []string) {
	w := e.waits[id]
	if w == nil {
		return nil
	}
	delete(e.waits, id)
	for _, up := range w.after.IDs {
		u := e.ends[up]
		if u == nil { // it is named twice
			continue
		}
		u.by = slices.DeleteFunc(u.by, func(by string) bool { return by == id })
		if len(u.by) == 0 {
			delete(e.ends, up)
			if u.known() {
				free = append(free, up)
			}
		}
	}
	return free
}
