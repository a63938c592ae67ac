package roles

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// Watch is the command "rolectl watch".
func Watch(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "watch [ROLE...]", Short: "Follow who leads, as it changes, until interrupted",
		Long: `Follow who leads, as it changes, until interrupted.

On a terminal it shows a table and keeps it up to date. Without a terminal, or with -o json, it writes one JSON document on
each line: first the state of every role and member, then every change. With -o name it writes the name of a role on each
line: first every role, then each role whose leader has changed.

Without ROLE it also follows roles that are added later.`,
		Example: `  rolectl watch
  rolectl watch scheduler | jq -r 'select(.role) | .role.leader'
  rolectl watch -o name | while read role; do ./refresh "$role"; done`,
		Args: cli.CheckArgs, ValidArgsFunction: inventory.CompleteRoles(a, -1),
		RunE: func(cmd *cobra.Command, names []string) error {
			defer a.EndWhenUnread(cmd)()
			s, err := inventory.Look(cmd, a, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := s.DescribeRoles(names...); err != nil {
				return err
			}
			w := watcher{
				s: s, bucket: a.Bucket, names: names, printer: a.Printer(), nc: a.Conn,
				named: map[string]leading{}, silent: map[string]bool{},
			}
			if a.Format != "json" && a.Format != "name" && show.IsTerminal(a.Out) {
				return w.table(cmd.Context(), a.Out)
			}
			return w.lines(cmd.Context())
		},
	}
}

// watcher is one run of watch.
type watcher struct {
	s       *inventory.View
	bucket  string
	names   []string // roles to follow; none means all roles, and members
	printer show.Printer
	nc      *nats.Conn
	named   map[string]leading // with -o name: the leader for which each role's last line was written
	silent  map[string]bool    // the roles whose last line told of a silent leader
}

// leading is a leader of a role and its epoch.
type leading struct {
	leader string
	epoch  uint64
}

func (w watcher) wants(role string) bool { return len(w.names) == 0 || slices.Contains(w.names, role) }

func (w watcher) roles() []inventory.RoleState {
	docs, _ := w.s.DescribeRoles() // without names there is no error
	return slices.DeleteFunc(docs, func(d inventory.RoleState) bool { return !w.wants(d.Role) })
}

// ended returns why the events have ended: nil if the user has interrupted the command.
func (w watcher) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	<-w.s.Done()
	return w.s.Err()
}
