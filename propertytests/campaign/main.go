package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rolemanager/rolemanager/propertytests/campaign/cycles"
	"github.com/rolemanager/rolemanager/propertytests/campaign/fuzz"
	"github.com/rolemanager/rolemanager/propertytests/campaign/mutants"
	"github.com/rolemanager/rolemanager/propertytests/campaign/schedules"
	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
)

// commands are all subcommands, each with its flags.
var commands = []struct {
	name, about string
	run         func(ctx context.Context, args []string) error
}{
	{"cycles", "play the tests in real time again and again", cycles.Main},
	{"schedules", "play simulated schedules and storms in ranges of seeds", schedules.Main},
	{"fuzz", "run every fuzz target of the module", fuzz.Main},
	{"mutants", "report how old the deaths on record are, and what they took", mutants.Main},
	{"sources", "print the marks of what the tests of packages are made of", sources.Main},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	for _, c := range commands {
		if len(args) > 0 && args[0] == c.name {
			return c.run(ctx, args[1:])
		}
	}
	var usage strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&usage, "\n  campaign %-10s %s", c.name, c.about)
	}
	return fmt.Errorf("campaign: name a subcommand; -h after it lists its flags:%s", usage.String())
}
