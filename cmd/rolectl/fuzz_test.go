package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// rereads is for how many command lines one tree of commands is used: its flags keep what they were
// set to.
const rereads = 10_000

// FuzzCommandLine: any command line, one argument on each line, is read without harm. A usage error
// is one line that cannot steer a terminal. A value that a flag has taken is within the bounds of
// the flag.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"roles -o json", "step-down scheduler --epoch 7 --wait 5s", "transfer r i --yes",
		"exec x --ttl 300ms --takeover=perhaps -- sh -c true",
		"tasks submit -n x k {} --label a=b --priority -100 --delay 1h", "tasks cron set -n x n k @daily --catch-up all",
		"bucket create x --replicas 3 --max-bytes 64MiB",
		"doctor -b a.b", "watch --timeout -1s", "help dance", "--version", "", "-", "--", "-o", "inspect a:b",
		"tasks list --for=1e9h",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	var a *cli.App
	var cmd *cobra.Command
	n := 0
	f.Fuzz(func(t *testing.T, lines string) {
		if n%rereads == 0 {
			a = cli.OfProcess()
			cmd = root(a)
		}
		n++
		var err error
		// A word that is not a command is compared with every command, in a table of its length,
		// where a non-letter takes three rows.
		heap.Bounded(t, 4*(1+len(cmd.Commands()))*len(lines), func() {
			args := strings.Split(lines, "\n")
			_ = cli.WantsJSON(args)
			err = read(cmd, args)
		})
		if err != nil {
			text := wording.OneLine(err.Error())
			said := wording.CleanLines(text)
			if said == "" || strings.ContainsFunc(said, unicode.IsControl) || len(text) > 4*len(lines)+2000 {
				t.Errorf("%q: %q", lines, said)
			}
			return
		}
		if a.Settings.Timeout < 0 || !slices.Contains(show.Formats, a.Format) {
			t.Errorf("%q: timeout %v, format %q", lines, a.Settings.Timeout, a.Format)
		}
	})
}

// read reads a command line as the program does before it does anything else.
func read(cmd *cobra.Command, args []string) error {
	c, rest, err := cmd.Find(args)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return c.FlagErrorFunc()(c, err)
	}
	return c.ValidateArgs(c.Flags().Args())
}
