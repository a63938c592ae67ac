package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func root(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rolectl", Short: "See and steer the roles that processes lead over NATS",
		Long: `rolectl shows who leads which role in a bucket, hands roles over, runs commands under them, and finds out what is wrong.

Where NATS is and as whom to go there is said by flags, by the environment (NATS_URL, NATS_CREDS, ... as for the nats tool),
or by a context of the nats tool, in this order. Reading commands need read-only permissions.

With -o json everything is a document of a versioned schema: data, and on standard error notes and, last, an error with a code.

Exit codes: 0 done, 1 failed, 2 usage, 3 nobody leads, 4 no connection or no permission, 5 leadership lost, 141 nobody reads
what is written (a closed pipe); exec passes on that of its command, doctor has its own.`,
		Example: `  rolectl dev                                   # a server to try things out, in another terminal
  rolectl roles                                 # who leads
  rolectl watch                                 # the same, as it changes
  rolectl exec scheduler -- ./scheduler         # run a command on one machine at a time
  rolectl step-down scheduler                   # hand it to the next in line
  rolectl doctor                                # what is wrong, and what to do about it`,
		SilenceErrors: true, SilenceUsage: true, Version: version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !validBucket.MatchString(a.bucket) {
				return fmt.Errorf("--bucket (ROLES_BUCKET): %w", invalidBucket(a.bucket))
			}
			a.begun = true
			return nil
		},
	}
	cmd.SetFlagErrorFunc(plainly)
	cmd.CompletionOptions.HiddenDefaultCmd = false
	flags := cmd.PersistentFlags()
	s := &a.settings
	flags.StringVarP(&s.Server, "server", "s", "", "URL of the NATS server, several separated by commas (NATS_URL)")
	flags.StringVar(&s.User, "user", "", "user name, or a token when there is no password (NATS_USER)")
	flags.StringVar(&s.Password, "password", "", "password (NATS_PASSWORD)")
	flags.StringVar(&s.Creds, "creds", "", "file with the credentials (NATS_CREDS)")
	flags.StringVar(&s.NKey, "nkey", "", "file with an nkey seed (NATS_NKEY)")
	flags.StringVar(&s.Cert, "tlscert", "", "client certificate (NATS_CERT)")
	flags.StringVar(&s.Key, "tlskey", "", "its private key (NATS_KEY)")
	flags.StringVar(&s.CA, "tlsca", "", "certificate authority of the server (NATS_CA)")
	flags.BoolVar(&s.TLSFirst, "tlsfirst", false, "TLS before the server has spoken (NATS_TLS_FIRST)")
	flags.StringVar(&s.InboxPrefix, "inbox-prefix", "", "where answers come, if permissions say so (NATS_INBOX_PREFIX)")
	flags.StringVar(&s.Context, "context", "", "context of the nats tool (NATS_CONTEXT; else the selected one)")
	flags.BoolVar(&s.NoContext, "no-context", false, "use no context, not even the selected one")
	flags.Var(&span{&s.Timeout, instant}, "timeout", "how long to wait for the server (NATS_TIMEOUT, else 5s)")
	flags.StringVarP(&a.bucket, "bucket", "b", envOr("ROLES_BUCKET", "roles"), "bucket that the roles live in (ROLES_BUCKET)")
	a.format = "table"
	flags.VarP(&choice{&a.format, show.Formats}, "output", "o", "table, wide, json or name")
	a.completeGlobals(cmd)
	cmd.AddCommand(
		roles(a), inspect(a), members(a), watch(a), stepDown(a), transfer(a),
		execCommand(a), guardCommand(), bucket(a), dev(a), doctor(a), bench(a), tasks(a),
	)
	cmd.InitDefaultVersionFlag() // else a flag behind it is taken for its value
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE = helpOf
		case "help":
			c.Args = cobra.ArbitraryArgs
			c.Run, c.RunE = nil, helpAbout
		}
	}
	return cmd
}

// helpOf shows the help of a command that only has others below it.
func helpOf(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// helpAbout shows the help of the command that is named. Errors: there is none such.
func helpAbout(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return usage(fmt.Errorf("no help about %q: see rolectl --help", strings.Join(args, " ")))
	}
	return about.Help()
}

// validBucket is what JetStream's key-value takes as the name of a bucket.
var validBucket = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

func invalidBucket(name string) error {
	return fmt.Errorf("%q cannot be the name of a bucket: use letters, digits, - and _", name)
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// group is a command that only has others below it: alone it shows them, and what it does not know is bad input.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: helpOf,
	}
}
