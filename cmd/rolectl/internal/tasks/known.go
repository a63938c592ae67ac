package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// knownWithin bounds the question whether somebody knows a name: what is wanted can be stored without an answer.
const knownWithin = 2 * time.Second

// lookUp asks the scheduler for the names that are known, to tell a name that was mistyped. Without an answer nothing is known.
func (t *scope) lookUp(ctx context.Context, c *assign.Client) (o assign.Overview, ok bool) {
	within, cancel := context.WithTimeout(ctx, knownWithin)
	defer cancel()
	o, err := inventory.Overview(within, t.Conn, c, t.namespace)
	return o, err == nil && o.Ready
}

// uncheckedNote says that a name was not checked.
func uncheckedNote(asked bool, what string) string {
	if asked {
		return ""
	}
	return " (stored; no scheduler answers, so whether there is such a " + what + " is not known)"
}

// unknownName is an error for a name that nobody knows, with what to do instead.
func unknownName(what, name, effect string, names []string) error {
	slices.Sort(names)
	there := "there is none"
	if len(names) > 0 {
		there = "there are " + show.FirstFew(names)
	}
	return cli.ExitWith(cli.ExitFailed, fmt.Errorf("no %s %q: %s; give --force to %s all the same", what, name, there, effect))
}

// knownKind is a kind of which the scheduler knows.
type knownKind struct {
	name   string
	paused bool
}

// knownKinds are those of open tasks, those of workers, and those that are paused.
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
