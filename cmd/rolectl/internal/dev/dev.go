package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

func Command(a *cli.App) *cobra.Command {
	d := devServer{a: a}
	cmd := &cobra.Command{
		Use: "dev", Short: "Run a NATS server for trying things out, with a bucket and tasks that are ready",
		Long: `Run a NATS server with JetStream on loopback, with a bucket and a namespace of tasks that are ready for the other
commands, until interrupted.

A built-in worker hands out the tasks of the namespace and runs those of the kinds echo (returns its input) and sleep (takes a
duration, such as '"5s"'), until a program of yours hands out tasks there; --worker=false leaves it out.

What is stored lies in --store-dir and is there again at the next start; two servers cannot share one. It has no passwords and
one replica: it is for development. The first line on standard output is its address, when all is ready.`,
		Example: "  rolectl dev\n  rolectl dev --port 0 --store-dir /tmp/nats --bucket jobs\n  rolectl dev --worker=false -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.port < 0 || d.port > 65535 {
				return cli.UsageError(fmt.Errorf("--port %d: use 1 to 65535, or 0 for a free one", d.port))
			}
			if d.dir == "" {
				d.dir = filepath.Join(os.TempDir(), "rolectl-dev")
			}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&d.dir, "store-dir", "", "where to keep what is stored (default rolectl-dev among the temporary files)")
	cmd.Flags().StringVarP(&d.namespace, "namespace", "n", cli.EnvOr("TASKS_NAMESPACE", "jobs"), "namespace of tasks that is ready (TASKS_NAMESPACE)")
	cmd.Flags().IntVar(&d.port, "port", 4222, "port on loopback; 0 takes a free one")
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
}

func (d *devServer) run(ctx context.Context) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return fmt.Errorf("make store directory (--store-dir): %w", err)
	}
	unlock, err := lockStore(d.dir)
	if err != nil {
		return err
	}
	defer unlock() // after the server has ended
	s, err := natsrun.Start(natsrun.Options{StoreDir: d.dir, Listen: true, Port: d.port, Name: inventory.DevMember})
	if err != nil {
		if taken(err) {
			err = fmt.Errorf("port %d is taken: give --port 0 --store-dir DIR for a free one with a store of its own", d.port)
		}
		return err
	}
	defer func() { _ = s.Shutdown() }() // a store that was given is kept
	nc, err := s.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	if _, err := natskv.Create(ctx, nc, natskv.Config{Bucket: d.a.Bucket}); err != nil {
		return err
	}
	cfg := assign.ClientConfig{Namespace: d.namespace, StreamAutoCreate: true}
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
	if err := d.ready(s.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// ready says where the server is, and what can be done with it.
func (d *devServer) ready(url string) error {
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
			StoreDir  string  `json:"store_dir"`
			Worker    *worker `json:"worker,omitempty"`
		}{show.Of("dev"), url, d.a.Bucket, d.namespace, d.dir, nil}
		if d.works {
			document.Worker = &worker{inventory.DevMember, inventory.DevMember, []string{kindEcho, kindSleep}}
		}
		return p.Line(document)
	}
	if _, err := fmt.Fprintln(p.W, url); err != nil {
		return err
	}
	d.a.Say("NATS with bucket %s and tasks %s, stored in %s; end it with Ctrl-C. In another terminal:", d.a.Bucket, d.namespace, d.dir)
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
	d.a.Say("The built-in worker %s runs these two kinds until a program of yours hands out tasks of %s (--worker=false leaves it out).", inventory.DevMember, d.namespace)
	return nil
}

// taken reports whether a server did not start because its port is in use. The server's log is all it leaves.
func taken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "address already in use")
}
