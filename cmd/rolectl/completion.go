package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
)

// completeWithin bounds what a press of the tab key may take.
const completeWithin = time.Second

type completion = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// observed asks an observer for names. Without a server there are none, and nothing is said: the user is typing.
func (a *app) observed(names func(o *election.Observer) []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.settings.Timeout = completeWithin
	nc, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.disconnect()
	ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
	defer cancel()
	o, err := election.Observe(ctx, nc, a.bucket)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer o.Close()
	return names(o), cobra.ShellCompDirectiveNoFileComp
}

// completeRoles offers the roles of the bucket for the first most arguments (-1: all), each once.
func (a *app) completeRoles(most int) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.observed(func(o *election.Observer) (names []string) {
			for _, r := range o.Roles() {
				names = append(names, show.Clean(r.Role))
			}
			return without(names, args)
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
				names = append(names, show.Clean(c.Instance))
			}
		}
		return names
	})
}

func without(names, taken []string) (left []string) {
	for _, n := range names {
		free := true
		for _, t := range taken {
			free = free && t != n
		}
		if free {
			left = append(left, n)
		}
	}
	return left
}

// completeGlobals completes the values of global flags.
func (a *app) completeGlobals(root *cobra.Command) {
	for flag, values := range map[string]func() []string{
		"output":  func() []string { return show.Formats },
		"context": connect.Contexts,
	} {
		err := root.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // the flag is not there
		}
	}
}
