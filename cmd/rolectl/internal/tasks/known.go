package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// knownWithin is how long lookUp waits for the scheduler: the request can be stored without an
// answer.
const knownWithin = 2 * time.Second

// lookUp asks the scheduler for the names that it knows, to notice a mistyped name. Without an
// answer ok is false.
func (t *scope) lookUp(ctx context.Context, c *assign.Client) (o assign.Overview, ok bool) {
	within, cancel := context.WithTimeout(ctx, knownWithin)
	defer cancel()
	o, err := inventory.Overview(within, t.Conn, c, t.namespace)
	return o, err == nil && o.Ready
}

// uncheckedNote says that a name was not checked, if no scheduler was asked.
func uncheckedNote(asked bool, what string) string {
	if asked {
		return ""
	}
	return " (stored; no scheduler answers, so the name of the " + what + " was not checked)"
}

// unknownName is the error about a name that the scheduler does not know; effect, if there is one,
// is what --force does.
func unknownName(what, name, effect string, names []string) error {
	slices.Sort(names)
	known := "the scheduler knows none"
	if len(names) > 0 {
		known = "the scheduler knows " + wording.FirstFew(names)
	}
	if effect != "" {
		known += "; give --force to " + effect
	}
	return cli.ExitWith(cli.ExitFailed, fmt.Errorf("unknown %s %q: %s", what, name, known))
}

// unlimited is the error about a kind of which no limits are recorded, if the scheduler does not
// know it.
func (t *scope) unlimited(ctx context.Context, c *assign.Client, l *assign.KindLimits, kind string) error {
	if l.Declared != nil || l.Override != nil {
		return nil
	}
	o, asked := t.lookUp(ctx, c)
	var names []string
	for _, k := range knownKinds(o) {
		names = append(names, k.name)
	}
	if !asked || slices.Contains(names, kind) {
		return nil
	}
	return unknownName("kind", kind, "", names)
}

// knownKind is a kind that the scheduler knows.
type knownKind struct {
	name   string
	paused bool
}

// knownKinds returns the kinds of open tasks and of workers, and the paused kinds.
func knownKinds(o assign.Overview) (kinds []knownKind) {
	seen := map[string]bool{}
	for _, k := range o.Kinds {
		seen[k.Kind] = true
		kinds = append(kinds, knownKind{k.Kind, k.Paused})
	}
	for _, w := range o.Workers {
		for _, name := range w.Kinds {
			if !seen[name] {
				seen[name] = true
				kinds = append(kinds, knownKind{name: name})
			}
		}
	}
	return kinds
}
