package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

func dev(a *app) *cobra.Command {
	var dir, namespace string
	var port int
	cmd := &cobra.Command{
		Use: "dev", Short: "Run a NATS server for trying things out, with a bucket and tasks that are ready",
		Long: `Run a NATS server with JetStream on loopback, with a bucket and a namespace of tasks that are ready for the other
commands, until interrupted.

What it stores lies in --store-dir and is there again at the next start; two servers cannot share one. It has no passwords and
one replica: it is for development. The first line on standard output is its address.`,
		Example: "  rolectl dev\n  rolectl dev --port 0 --store-dir /tmp/nats --bucket jobs",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return usage(fmt.Errorf("--port %d: use 1 to 65535, or 0 for a free one", port))
			}
			if dir == "" {
				dir = filepath.Join(os.TempDir(), "rolectl-dev")
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("make store directory (--store-dir): %w", err)
			}
			unlock, err := lockStore(dir)
			if err != nil {
				return err
			}
			defer unlock() // after the server has ended
			s, err := natsrun.Start(natsrun.Options{StoreDir: dir, Listen: true, Port: port, Name: "rolectl-dev"})
			if err != nil {
				if taken(err) {
					err = fmt.Errorf("port %d is taken: give --port 0 --store-dir DIR for a free one with a store of its own", port)
				}
				return err
			}
			defer func() { _ = s.Shutdown() }() // a store that was given is kept
			nc, err := s.Connect()
			if err != nil {
				return err
			}
			defer nc.Close()
			if _, err := natskv.Create(cmd.Context(), nc, natskv.Config{Bucket: a.bucket}); err != nil {
				return err
			}
			if err := createTasks(cmd.Context(), nc, assign.ClientConfig{Namespace: namespace, StreamAutoCreate: true}); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.URL()); err != nil {
				return err
			}
			say("NATS with bucket %s and tasks %s, stored in %s; end it with Ctrl-C. In another terminal:", a.bucket, namespace, dir)
			export := ""
			if s.URL() != "nats://127.0.0.1:4222" {
				export = "NATS_URL=" + s.URL() + " "
			}
			if a.bucket != "roles" {
				export += "ROLES_BUCKET=" + a.bucket + " "
			}
			say("  %srolectl exec scheduler -- sh -c 'echo leading at epoch $EPOCH; sleep 1000'", export)
			say("  %srolectl watch", export)
			say("  %srolectl tasks submit -n %s hello.v1 '\"world\"'", export, namespace)
			<-cmd.Context().Done()
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "store-dir", "", "where to keep what is stored (default rolectl-dev among the temporary files)")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", envOr("TASKS_NAMESPACE", "jobs"), "namespace of tasks that is ready (TASKS_NAMESPACE)")
	cmd.Flags().IntVar(&port, "port", 4222, "port on loopback; 0 takes a free one")
	return cmd
}

// taken reports whether a server did not start because its port is in use. The server's log is all it leaves.
func taken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "address already in use")
}
