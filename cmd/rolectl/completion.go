package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// completeWithin bounds what a press of the tab key may take.
const completeWithin = time.Second

type completion = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// live asks the server for names. Without one there are none, and nothing is said: the user is typing.
func (a *app) live(names func(ctx context.Context, nc *nats.Conn) ([]string, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.settings.Timeout = completeWithin
	nc, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.disconnect()
	ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
	defer cancel()
	found, err := names(ctx, nc)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for i, name := range found {
		found[i] = show.Clean(name)
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// observed is live with what an observer sees.
func (a *app) observed(names func(o *election.Observer) []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.live(func(ctx context.Context, nc *nats.Conn) ([]string, error) {
		o, err := election.Observe(ctx, nc, a.bucket)
		if err != nil {
			return nil, err
		}
		defer o.Close()
		return names(o), nil
	})
}

// completeRoles offers the roles of the bucket for the first most arguments (-1: all), each once.
func (a *app) completeRoles(most int) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.observed(func(o *election.Observer) (names []string) {
			for _, r := range o.Roles() {
				if !slices.Contains(args, r.Role) {
					names = append(names, r.Role)
				}
			}
			return names
		})
	}
}

// completeTransfer offers a role, then its candidates but the leader.
func (a *app) completeTransfer(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeRoles(1)(cmd, args, typed)
	}
	return a.observed(func(o *election.Observer) (names []string) {
		r, _ := o.Role(args[0])
		for _, c := range r.Candidates {
			if c.Instance != r.Leader {
				names = append(names, c.Instance)
			}
		}
		return names
	})
}

// completeInstance offers the names that exec may take: those that the bucket knows of former sessions, and this machine's;
// one that lives would be refused.
func (a *app) completeInstance(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.live(func(ctx context.Context, nc *nats.Conn) (names []string, err error) {
		l, err := openLedger(ctx, nc, a.bucket, false, nil)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		alive := map[string]bool{}
		for _, r := range l.all() {
			if r.Kind != protocol.KindLease || r.Form != protocol.FormRecord {
				continue
			}
			names = append(names, r.Peer.Instance)
			alive[r.Peer.Instance] = r.Lease.Alive()
		}
		if host, err := os.Hostname(); err == nil {
			names = append(names, host)
		}
		return slices.DeleteFunc(names, func(name string) bool { return alive[name] }), nil
	})
}

// completeBuckets offers the buckets in which sessions can be.
func (a *app) completeBuckets(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.live(func(ctx context.Context, nc *nats.Conn) ([]string, error) { return streams(ctx, nc, "KV_") })
}

// streams are the names of those that begin so, without that beginning.
func streams(ctx context.Context, nc *nats.Conn, prefix string) (names []string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	found := js.StreamNames(ctx)
	for name := range found.Name() {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	return names, found.Err()
}

// completeGlobals completes the values of global flags.
func (a *app) completeGlobals(root *cobra.Command) {
	completeFlag(root, "output", show.Formats...)
	completeFlagBy(root, "context", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return connect.Contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	completeFlagBy(root, "bucket", func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeBuckets(cmd, nil, typed)
	})
}
