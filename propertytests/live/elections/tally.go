package elections

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rolemanager/rolemanager/event"
)

// Tally counts what came to pass: a run in which nothing did proves nothing.
type Tally struct {
	mu     sync.Mutex
	counts map[string]int
}

// NewTally returns a tally of nothing.
func NewTally() *Tally { return &Tally{counts: map[string]int{}} }

// Observe counts an event by its name, and by what tells it apart.
func (t *Tally) Observe(e event.Event) {
	name := event.Name(e)
	t.Add(name, 1)
	detail := ""
	switch e := e.(type) {
	case event.RoleDemoted:
		detail = e.Reason
	case event.Heartbeat:
		detail = e.Outcome
	case event.ClaimAttempted:
		detail = e.Outcome
	case event.CallbackPanicked:
		detail = e.Callback
	case event.WorkReturned:
		detail = fmt.Sprintf("failed %t, panicked %t", e.Err != nil, e.Panic)
	}
	if detail != "" {
		t.Add(name+"/"+detail, 1)
	}
}

// Add counts n more of something.
func (t *Tally) Add(what string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[what] += n
}

// Count is how often something came to pass.
func (t *Tally) Count(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[what]
}

// Merge adds what another tally has counted.
func (t *Tally) Merge(u *Tally) {
	u.mu.Lock()
	counts := maps.Clone(u.counts)
	u.mu.Unlock()
	for what, n := range counts {
		t.Add(what, n)
	}
}

// Missing are those of the given things that never came to pass.
func (t *Tally) Missing(wanted ...string) (missing []string) {
	for _, what := range wanted {
		if t.Count(what) == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}

func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	parts := make([]string, 0, len(t.counts))
	for _, what := range slices.Sorted(maps.Keys(t.counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, t.counts[what]))
	}
	return strings.Join(parts, ", ")
}
