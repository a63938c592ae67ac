package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func limitsCommand(t *scope) *cobra.Command {
	var concurrency, keyLimit int
	var rate float64
	var within time.Duration
	var reason string
	var shares []string
	var restore bool
	cmd := &cobra.Command{
		Use: "limits KIND", Short: "Show the limits of a kind, or override them",
		Long: `Show the limits of a kind: what its programs declare, what overrides that, and what counts.

With --concurrency, --rate, --key-limit or --share the command overrides what is declared, for the time of --for or until
--restore. A limit without a flag stays as it was declared. --share replaces all shares: a fair key without a flag has one.
It is stored, needs no scheduler, and counts for every task of the kind, whatever its submission says.`,
		Example: `  rolectl tasks limits -n jobs echo
  rolectl tasks limits -n jobs echo --concurrency 1 --for 2h --reason 'the database is slow'
  rolectl tasks limits -n jobs echo --share acme=3 --share globex=2
  rolectl tasks limits -n jobs echo --restore`,
		Args: cli.CheckArgs, ValidArgsFunction: t.completeKinds(0, func(knownKind) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			o := assign.LimitsOverride{Reason: reason}
			if given("concurrency") {
				o.Concurrency = &concurrency
			}
			if given("rate") {
				o.Rate = &rate
			}
			if given("key-limit") {
				o.KeyLimit = &keyLimit
			}
			var err error
			if o.Shares, err = readShares(shares); err != nil {
				return cli.UsageError(err)
			}
			some := o.Concurrency != nil || o.Rate != nil || o.KeyLimit != nil || o.Shares != nil
			switch {
			case some && restore:
				return cli.UsageError(errors.New("--restore takes no limits"))
			case !some && (within > 0 || reason != ""):
				return cli.UsageError(errors.New("--for and --reason need a limit: --concurrency, --rate, --key-limit or --share"))
			}
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				var err error
				switch {
				case restore:
					err = assign.RestoreLimits(ctx, c, args[0])
				case some:
					if within > 0 {
						o.Until = time.Now().Add(within).Truncate(time.Second)
					}
					err = assign.OverrideLimits(ctx, c, args[0], o)
				}
				if errors.Is(err, assign.ErrInvalidOption) {
					return cli.UsageError(err)
				}
				if err != nil {
					return err
				}
				limits, err := assign.GetLimits(ctx, c, args[0])
				if err != nil {
					return err
				}
				if !restore {
					if err := t.unlimited(ctx, c, &limits, args[0]); err != nil {
						return err
					}
				}
				return t.printLimits(limits)
			})
		},
	}
	f := cmd.Flags()
	cli.IntFlag(cmd, &concurrency, "concurrency", 0, 1_000_000_000,
		"how many tasks of the kind may run at once (0: any number)")
	f.Float64Var(&rate, "rate", 0, "how many tasks of the kind are handed out per second (0: any number)")
	cli.IntFlag(cmd, &keyLimit, "key-limit", 1, 1_000_000_000, "how many tasks of one limit key may run at once")
	f.StringArrayVar(&shares, "share", nil, "how often a fair key goes before it is the turn of the next, key=n")
	cli.DurationFlag(cmd, &within, "for", 0, 0, "how long the override counts (0: until --restore)")
	f.StringVar(&reason, "reason", "", "the reason, shown to people")
	f.BoolVar(&restore, "restore", false, "end the override")
	return cmd
}

// readShares reads shares of fair keys, which may have a = themselves.
func readShares(all []string) (shares map[string]int, err error) {
	for _, text := range all {
		at := strings.LastIndexByte(text, '=')
		n, err := strconv.Atoi(text[at+1:])
		if at < 0 || err != nil {
			return nil, fmt.Errorf("--share %q: use key=n, such as acme=3", text)
		}
		if shares == nil {
			shares = map[string]int{}
		}
		shares[text[:at]] = n
	}
	return shares, nil
}

func (t *scope) printLimits(l assign.KindLimits) error {
	table := show.Table{
		Columns: []string{"LIMIT", "COUNTS", "DECLARED", "OVERRIDE"}, Names: []string{"LIMIT"},
		JSON: struct {
			show.Document
			Namespace string            `json:"namespace"`
			Limits    assign.KindLimits `json:"limits"`
		}{show.Of("limits"), t.namespace, l},
	}
	row := func(name string, counts, declared, override any) {
		table.Rows = append(table.Rows, show.Row{
			Name: name, Cells: []string{name, cmp.Or(limit(counts), "as submitted"), limit(declared), limit(override)},
		})
	}
	d, o := l.Declared, l.Override
	if o == nil {
		o = &assign.LimitsOverride{}
	}
	said := func(n any) any {
		if d == nil {
			return nil
		}
		return n
	}
	if d == nil {
		d = &assign.DeclaredLimits{}
	}
	row("concurrency", value(l.Concurrency), said(d.Concurrency), value(o.Concurrency))
	row("rate", value(l.Rate), said(d.Rate), value(o.Rate))
	row("key limit", value(l.KeyLimit), said(d.KeyLimit), value(o.KeyLimit))
	share := func(of map[string]int, key string) any {
		if n, ok := of[key]; ok {
			return n
		}
		return nil
	}
	keys := maps.Clone(d.Shares)
	for key := range o.Shares {
		if keys == nil {
			keys = map[string]int{}
		}
		keys[key] = 0
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		row("share of "+wording.Clean(key), max(l.Shares[key], 1), share(d.Shares, key), share(o.Shares, key))
	}
	if err := t.Printer().Print(table); err != nil || t.Printer().Format == "json" || t.Printer().Format == "name" {
		return err
	}
	switch {
	case l.Declared == nil && l.Override == nil:
		t.Say("nothing is declared: the limits of the newest submission count")
	case l.Override != nil && !o.Until.IsZero():
		t.Say("overridden until %s%s", o.Until.Local().Format(time.DateTime), because(o))
	case l.Override != nil:
		t.Say("overridden until --restore%s", because(o))
	}
	return nil
}

// limit is a limit as a cell, "" for none.
func limit(n any) string {
	switch n {
	case nil:
		return ""
	case 0, 0.0:
		return "any"
	}
	return fmt.Sprint(n)
}

func because(o *assign.LimitsOverride) string {
	text := ""
	if o.By != "" {
		text += " by " + wording.Clean(o.By)
	}
	if o.Reason != "" {
		text += ": " + wording.Clean(wording.OneLine(o.Reason))
	}
	return text
}

// value is what a pointer points at, nil for none.
func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
