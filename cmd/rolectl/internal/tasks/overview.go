package tasks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func overviewCommand(t *scope) *cobra.Command {
	return &cobra.Command{
		Use: "overview", Short: "Show the open tasks of each kind, why tasks wait, and the workers",
		Example: "  rolectl tasks overview -n jobs\n  rolectl tasks overview -n jobs -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				o, err := inventory.Overview(ctx, t.Conn, c, t.namespace)
				if err != nil {
					return err
				}
				return t.printOverview(o, t.readHolds(ctx, o))
			})
		},
	}
}

func (t *scope) printOverview(o assign.Overview, all []hold) error {
	p := t.Printer()
	kinds := show.Table{
		Columns: []string{"KIND", "WAITING", "DELAYED", "RUNNING", "STATE", "WAITS BECAUSE"},
		Wide:    []string{"CONCURRENCY", "RATE", "OLDEST", "WAITED P50/P99", "RAN P50/P99", "TENANTS"},
		Empty:   "no open tasks",
		Names:   []string{"KIND", "STATE", "WAITS BECAUSE"}, Spare: []string{"DELAYED"},
		JSON: struct {
			show.Document
			Namespace string `json:"namespace"`
			assign.Overview
			Held []hold `json:"held"`
		}{show.Of("overview"), t.namespace, o, all},
	}
	for _, k := range o.Kinds {
		state := ""
		if k.Paused {
			state = withHold("paused", all, func(h hold) bool { return h.Kind == k.Kind })
		}
		kinds.Rows = append(kinds.Rows, show.Row{
			Name: k.Kind, Tone: toneOfKind(k),
			Cells: []string{k.Kind, fmt.Sprint(k.Waiting), fmt.Sprint(k.Delayed), fmt.Sprint(k.Running), state, reasons(k)},
			Wide: []string{
				limit(k.Concurrency), limit(k.Rate), oldest(k.Oldest), percentiles(k.Waited), percentiles(k.Ran),
				tenants(k),
			},
		})
	}
	if p.Format == "json" || p.Format == "name" {
		return p.Print(kinds)
	}
	state := "hands out tasks"
	if !o.Ready {
		state = "is taking over"
	}
	workers := show.Table{
		Columns: []string{"WORKER", "BUSY", "SLOTS", "STATE"}, Wide: []string{"KINDS", "LABELS"},
		Names: []string{"WORKER", "STATE"}, Empty: "no workers",
	}
	for _, w := range o.Workers {
		var states []string
		tone := show.Plain
		if w.Draining || w.Drained {
			tone = show.Warning
		}
		if w.Session == 0 {
			states, tone = append(states, "absent"), show.Bad
		}
		if w.Draining {
			states = append(states, "draining")
		}
		if w.Drained {
			states = append(states, withHold("drained", all, func(h hold) bool { return h.Instance == w.Instance }))
		}
		if w.Unreachable {
			states, tone = append(states, "unreachable"), show.Bad
		}
		workers.Rows = append(workers.Rows, show.Row{
			Name: w.Instance, Tone: tone,
			Cells: []string{w.Instance, fmt.Sprint(w.Load), fmt.Sprint(w.Slots), strings.Join(states, ", ")},
			Wide:  []string{strings.Join(w.Kinds, ", "), show.Pairs(w.Labels)},
		})
	}
	if _, err := fmt.Fprintf(p.W, "%s %s, at epoch %d\n\n", wording.Clean(o.Scheduler), state, o.Epoch); err != nil {
		return err
	}
	if o.Trouble != "" {
		if _, err := fmt.Fprintf(p.W, "%s\n\n", p.Paint(show.Bad, wording.Clean(wording.OneLine(o.Trouble)))); err != nil {
			return err
		}
	}
	if err := p.Print(kinds); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.W); err != nil {
		return err
	}
	return p.Print(workers)
}

// toneOfKind marks a kind whose tasks wait for somebody to act.
func toneOfKind(k assign.KindOverview) show.Tone {
	for why, n := range k.Reasons {
		if _, _, blocked := findings.Advice("", k.Kind, why); blocked && n > 0 {
			return show.Warning
		}
	}
	if k.Paused {
		return show.Warning
	}
	return show.Plain
}

// oldest says which task has waited the longest.
func oldest(t *assign.OldestTask) string {
	if t == nil {
		return "-"
	}
	return wording.Age(t.Waiting) + " " + t.ID
}

// percentiles are those of some times, "-" for none.
func percentiles(t *assign.TaskTimes) string {
	if t == nil {
		return "-"
	}
	return wording.Age(t.P50) + "/" + wording.Age(t.P99)
}

// tenants lists those of which the most tasks wait, and says how many there are.
func tenants(k assign.KindOverview) string {
	if k.TenantCount == 0 {
		return "-"
	}
	all := []string{fmt.Sprintf("%d wait", k.TenantCount)}
	for _, t := range k.Tenants {
		all = append(all, fmt.Sprintf("%s: %d", wording.Clean(cmp.Or(t.Key, "(none)")), t.Waiting))
	}
	return strings.Join(all, ", ")
}

// reasons lists why tasks of a kind wait, with the number of tasks for each reason.
func reasons(k assign.KindOverview) string {
	var all []string
	for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
		all = append(all, fmt.Sprintf("%s: %d", wording.Words(string(why)), k.Reasons[why]))
	}
	return strings.Join(all, ", ")
}
