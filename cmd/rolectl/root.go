package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/bench"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/bucket"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/dev"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/doctor"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/exec"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/exporter"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/guard"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/roles"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/tasks"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/ui"
)

// root builds the tree of all commands.
func root(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rolectl", Short: "See and steer the roles that processes lead over NATS",
		Long: `rolectl shows who leads which role in a bucket, hands roles over, runs commands under them, and finds out what is wrong.

Flags, the environment (NATS_URL, NATS_CREDS, ... as for the nats tool) or a context of the nats tool say where NATS is and
which user to connect as. Flags come before the environment, and that before a context. Commands that only read need
read-only permissions.

With -o json all output is JSON in a versioned schema: data on standard output, and on standard error notes and, at the end,
an error with a code.

Exit codes: 0 done, 1 failed, 2 usage, 3 nobody leads, 4 no connection or no permission, 5 leadership lost, 130
interrupted (Ctrl-C), 141 nobody reads the output (a closed pipe). exec passes on the exit code of its command, and
doctor has exit codes of its own.`,
		Example: `  rolectl dev                                   # a server to try things out, in another terminal
  rolectl roles                                 # who leads
  rolectl watch                                 # the same, as it changes
  rolectl ui                                    # the same and more, as a page for a browser
  rolectl exec scheduler -- ./scheduler         # run a command on one machine at a time
  rolectl step-down scheduler                   # hand it to the next in line
  rolectl doctor                                # what is wrong, and what to do about it`,
		SilenceErrors: true, SilenceUsage: true, Version: cli.Version(dev.ServerVersion),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckBucketName(a.Bucket); err != nil {
				return fmt.Errorf("--bucket (ROLES_BUCKET): %w", err)
			}
			a.Begun = true
			return nil
		},
	}
	cmd.SetIn(a.In)
	cmd.SetOut(a.Out)
	cmd.SetErr(a.Err)
	cmd.SetFlagErrorFunc(cli.ExplainFlagError)
	cmd.CompletionOptions.HiddenDefaultCmd = false
	a.GlobalFlags(cmd)
	cmd.AddCommand(
		roles.List(a), roles.Inspect(a), roles.Members(a), roles.Watch(a), roles.StepDown(a), roles.Transfer(a),
		roles.Pause(a), roles.Resume(a), roles.Spread(a), roles.Zone(a),
		exec.Command(a), exec.GuardCommand(), guard.Command(a),
		bucket.Command(a), dev.Command(a), doctor.Command(a), bench.Command(a), tasks.Command(a), ui.Command(a),
		exporter.Command(a),
		cli.OptionsCommand(), cli.VersionCommand(a, dev.ServerVersion),
	)
	cli.HideGlobalFlags(cmd)
	cmd.InitDefaultVersionFlag() // else a flag after --version is taken for its value
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE = cli.ShowHelp
		case "help":
			c.Args = cobra.ArbitraryArgs
			c.Run, c.RunE = nil, helpAbout
		}
	}
	return cmd
}

// helpAbout shows the help of the named command. It returns an error if there is no such command.
func helpAbout(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return cli.UsageError(fmt.Errorf("no command %q: see rolectl --help", strings.Join(args, " ")))
	}
	return about.Help()
}
