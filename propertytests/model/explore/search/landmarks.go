package search

import (
	"fmt"
	"strings"
)

// Landmarked is a model that says what a search is to come by. A search that has seen many states
// and none of these has said nothing of what the configuration is for.
type Landmarked[S any] interface {
	Model[S]
	// Landmarks are their names, at most 32.
	Landmarks() []string
	// At says which of them a state has, as bits in their order.
	At(s S) uint32
}

// Landmark is how many states had it.
type Landmark struct {
	Name   string
	States int
}

// passed counts them.
func passed(all []Landmark, at uint32) {
	for i := range all {
		all[i].States += int(at >> i & 1)
	}
}

// Missing are the landmarks that no state had.
func (r Report) Missing() []string {
	var names []string
	for _, l := range r.Landmarks {
		if l.States == 0 {
			names = append(names, l.Name)
		}
	}
	return names
}

func told(all []Landmark) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, ", %d %s", l.States, l.Name)
	}
	return b.String()
}
