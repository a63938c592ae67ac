package dev

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// ServerVersion is the version of the server that dev runs.
const ServerVersion = server.VERSION

// Command is the command "rolectl dev".
func Command(a *cli.App) *cobra.Command {
	d := devServer{a: a}
	cmd := &cobra.Command{
		Use: "dev", Short: "Run a NATS server for trying things out, with a bucket and a namespace of tasks",
		Long: `Run a NATS server with JetStream on loopback until interrupted. Its bucket and its namespace of tasks are ready for the other
commands.

A built-in worker hands out the tasks of the namespace. It runs tasks of the kind echo, which returns its input, and of the
kind sleep, which takes a duration such as '"5s"'. It leaves when a program of yours hands out tasks there. --worker=false
leaves it out from the start.

The bucket and the tasks are kept in memory, and are gone when the server ends. With --store-dir they are kept in files, and
are there again at the next start; two servers cannot share a directory.

The server has no passwords and one replica: it is for development. The first line on standard output is its address, when
everything is ready.`,
		Example: "  rolectl dev\n  rolectl dev --port 0 --store-dir /tmp/nats --bucket jobs\n" +
			"  rolectl dev --worker=false -o json",
		Args: cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.port < 0 || d.port > 65535 {
				return cli.UsageError(fmt.Errorf("--port %d: use 1 to 65535, or 0 for a free one", d.port))
			}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&d.dir, "store-dir", "",
		"directory to keep everything in (default: in memory, until the server ends)")
	cmd.Flags().StringVarP(&d.namespace, "namespace", "n", a.EnvOr("TASKS_NAMESPACE", "jobs"),
		"namespace of tasks to create (TASKS_NAMESPACE)")
	cmd.Flags().IntVar(&d.port, "port", 4222, "port on loopback; 0 takes a free one")
	cmd.Flags().BoolVar(&d.ui, "ui", false,
		"serve the page on 127.0.0.1:8223, with the right to steer; with --port 0 on a free port")
	cmd.Flags().BoolVar(&d.works, "worker", true, "run tasks of the kinds echo and sleep")
	return cmd
}

// devServer is one run of dev.
type devServer struct {
	a         *cli.App
	dir       string
	namespace string
	port      int
	works     bool
	ui        bool
}

func (d *devServer) run(ctx context.Context) error {
	storage := jetstream.MemoryStorage
	if d.dir != "" {
		storage = jetstream.FileStorage
		unlock, err := openStore(d.dir)
		if err != nil {
			return err
		}
		defer unlock() // after the server has ended
	}
	s, err := natsrun.Start(natsrun.Options{StoreDir: d.dir, Listen: true, Port: d.port, Name: findings.DevMember})
	if err != nil {
		if taken(err) {
			err = fmt.Errorf("port %d is in use: give --port 0 to use a free port", d.port)
		}
		return err
	}
	defer func() { _ = s.Shutdown() }() // the directory of --store-dir is kept
	nc, err := s.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	if _, err := natskv.Create(ctx, nc, natskv.Config{Bucket: d.a.Bucket, Storage: storage}); err != nil {
		return err
	}
	cfg := assign.ClientConfig{Namespace: d.namespace, StreamAutoCreate: true, Storage: storage}
	if err := inventory.CreateTasks(ctx, nc, cfg); err != nil {
		return err
	}
	if _, err := assign.CreateObjects(ctx, nc, cfg); err != nil {
		return err
	}
	if d.works {
		working, stop := context.WithCancel(ctx)
		w, err := startDevWorker(working, nc, d.a.Bucket, d.namespace, d.a.Say)
		if err != nil {
			stop()
			return fmt.Errorf("start the built-in worker (--worker=false leaves it out): %w", err)
		}
		defer w.wait()
		defer stop()
	}
	page := ""
	if d.ui {
		url, end, err := d.servePage(ctx, nc)
		if err != nil {
			return err
		}
		defer end()
		page = url
	}
	if err := d.ready(s.URL(), page); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// ready prints the address of the server, and what a user can do with it.
func (d *devServer) ready(url, page string) error {
	p := d.a.Printer()
	if p.Format == "json" {
		type worker struct {
			Instance string   `json:"instance"`
			Role     string   `json:"role"`
			Kinds    []string `json:"kinds"`
		}
		document := struct {
			show.Document
			URL       string  `json:"url"`
			Bucket    string  `json:"bucket"`
			Namespace string  `json:"namespace"`
			StoreDir  string  `json:"store_dir"` // "": in memory
			Worker    *worker `json:"worker,omitempty"`
			UI        string  `json:"ui,omitempty"`
		}{show.Of("dev"), url, d.a.Bucket, d.namespace, d.dir, nil, page}
		if d.works {
			document.Worker = &worker{findings.DevMember, findings.DevMember, []string{kindEcho, kindSleep}}
		}
		return p.Line(document)
	}
	if _, err := fmt.Fprintln(p.W, url); err != nil {
		return err
	}
	kept := "in memory"
	if d.dir != "" {
		kept = "in " + d.dir
	}
	d.a.Say("NATS with bucket %s and tasks %s, kept %s; end it with Ctrl-C.", d.a.Bucket, d.namespace, kept)
	if page != "" {
		d.a.Say("The page about it: %s", page)
	}
	d.a.Say("In another terminal:")
	export := ""
	if url != "nats://127.0.0.1:4222" {
		export = "NATS_URL=" + url + " "
	}
	if d.a.Bucket != "roles" {
		export += "ROLES_BUCKET=" + d.a.Bucket + " "
	}
	d.a.Say("  %srolectl exec scheduler -- sh -c 'echo leading at epoch $EPOCH; sleep 1000'", export)
	d.a.Say("  %srolectl watch", export)
	if !d.works {
		return nil
	}
	d.a.Say("  %srolectl tasks submit -n %s %s '\"world\"' --wait", export, d.namespace, kindEcho)
	d.a.Say("  %srolectl tasks submit -n %s %s '\"5s\"' --wait", export, d.namespace, kindSleep)
	d.a.Say("The built-in worker %s runs these two kinds until a program of yours hands out the tasks of %s "+
		"(--worker=false leaves it out).", findings.DevMember, d.namespace)
	return nil
}

// taken reports whether a server did not start because its port is in use. Only the server's log
// tells.
func taken(err error) bool {
	return err != nil &&
		(errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "address already in use"))
}
