package main

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/doctor"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// local are the commands that need no server: guard runs its program without one.
var local = []string{
	"rolectl dev", "rolectl guard", "rolectl help", "rolectl completion", "rolectl options", "rolectl version",
	"rolectl guard-process-group",
}

// everywhere is every command that needs a server, as it may be called: a new one is among them by
// itself, since they are those of the program. A TTL that is longer than a test's patience shows
// whether something waits for leases.
func everywhere(t *testing.T) (all [][]string) {
	t.Helper()
	p := at(t)
	p.ok("bucket", "create", "x")
	values := map[string]string{
		"ROLE": "x", "INSTANCE": "y", "NAME": "x", "ZONE": "z", "TASK": "y", "KIND": "k", "SCHEDULE": "@daily", "--": "--",
		"COMMAND": "true", "DIRECTORY": backupOf(p, "x"),
	}
	flags := map[string]string{
		"yes": "true", "namespace": "x", "ttl": "2m", "here": "true", "vacant-for": "1h", "all": "true", "from": "1h",
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if slices.Contains(local, cmd.CommandPath()) {
			return
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
		if cmd.HasSubCommands() && len(cli.ArgumentNames(cmd)) == 0 {
			return // it shows its help
		}
		line := strings.Fields(cmd.CommandPath())[1:]
		for flag, value := range flags {
			if cmd.Flag(flag) != nil {
				line = append(line, "--"+flag+"="+value)
			}
		}
		for _, name := range cli.ArgumentNames(cmd) {
			if strings.HasPrefix(name, "[") {
				continue
			}
			if values[name] == "" {
				t.Fatalf("%s: nobody knows what to give for %s", cmd.CommandPath(), name)
			}
			line = append(line, values[name])
		}
		all = append(all, line)
	}
	visit(root(cli.OfProcess()))
	if len(all) < 24 {
		t.Fatalf("only %d commands: %v", len(all), all)
	}
	return all
}

// TestNoServer: no command hangs without a server, with one that does not speak, and with one that
// has no JetStream or whose JetStream does not answer. Each says so in a line, and the exit code
// tells it from other failures.
func TestNoServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts; nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	off := func(o *natsrun.Options) { o.Configure = func(so *server.Options) { so.JetStream = false } }
	without, mute := at(t, off), at(t, off)
	nc := mute.connect()
	if _, err := nc.Subscribe("$JS.>", func(*nats.Msg) {}); err != nil { // a subscriber that never answers
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	port := func(p *place) string { return strings.TrimPrefix(p.server.URL(), "nats://") }
	commands := everywhere(t)
	for _, where := range []struct {
		what, address string
		says          string
		doctor        int
	}{
		{"nobody there", "127.0.0.1:1", "connect to nats://127.0.0.1:1: connection refused", doctorUnknown},
		{"nobody speaks", silent.Addr().String(), "said nothing within 1s", doctorUnknown},
		{"no JetStream", port(without), "JetStream", doctorCritical},
		{"a mute JetStream", port(mute), "--timeout", doctorUnknown},
	} {
		t.Run(where.what, func(t *testing.T) {
			p := &place{t: t, env: clean(t)}
			try := func(args []string) result {
				return p.here(append([]string{"--server", "nats://joe:secret@" + where.address, "--timeout", "1s"}, args...)...)
			}
			results := make([]result, len(commands))
			var wg sync.WaitGroup
			for i, args := range commands {
				wg.Go(func() { results[i] = try(args) })
			}
			wg.Wait()
			for i, args := range commands {
				r, again := results[i], false
				// all at once, some may not have come as far as to ask
				natstest.Eventually(t, strings.Join(args, " "), patience, func() (bool, string) {
					if again {
						r = try(args)
					}
					again = true
					if strings.Contains(r.out+r.errors, "secret") {
						t.Errorf("%v repeats the password: %q", args, r.errors)
					}
					said := fmt.Sprintf("exit %d, %q, %q", r.code, r.out, r.errors)
					if args[0] == doctor.Name {
						return r.code == int(where.doctor) && r.out != "", said
					}
					return r.code == cli.ExitConnection && strings.Count(r.errors, "\n") == 1 &&
						strings.Contains(r.errors, where.says), said
				})
			}
		})
	}
}
