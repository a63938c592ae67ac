// Command rolectl makes and checks the buckets that sessions and roles live in.
//
//	rolectl bucket create NAME [--replicas N] [--storage file|memory] [--max-ttl D]
//	rolectl bucket check NAME [--fix]
//
// The server is that of --server or NATS_URL, the credentials those of --creds or NATS_CREDS. Data goes to stdout, all else
// to stderr. Exit codes: 0 done, 1 the bucket is not fit, 2 usage, 4 connection or permission.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
)

const (
	exitUnfit      = 1
	exitUsage      = 2
	exitConnection = 4
)

// answerWithin bounds every command: none hangs without a server.
const answerWithin = 5 * time.Second

// failure is an error with the exit code that it asks for.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := root().ExecuteContext(ctx)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "rolectl:", err)
	var f *failure
	if errors.As(err, &f) {
		os.Exit(f.code)
	}
	os.Exit(exitUsage)
}

func root() *cobra.Command {
	var to server
	cmd := &cobra.Command{
		Use: "rolectl", Short: "Look after the roles of a NATS cluster", SilenceErrors: true, SilenceUsage: true,
	}
	flags := cmd.PersistentFlags()
	flags.StringVarP(&to.url, "server", "s", envOr("NATS_URL", nats.DefaultURL), "URL of the NATS server")
	flags.StringVar(&to.creds, "creds", os.Getenv("NATS_CREDS"), "file with the credentials")
	cmd.AddCommand(bucket(&to))
	return cmd
}

// server is where to connect.
type server struct{ url, creds string }

func (s *server) connect() (*nats.Conn, error) {
	options := []nats.Option{nats.Name("rolectl"), nats.Timeout(answerWithin), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if s.creds != "" {
		options = append(options, nats.UserCredentials(s.creds))
	}
	nc, err := nats.Connect(s.url, options...)
	if err != nil {
		return nil, &failure{exitConnection, fmt.Errorf("connect to %s: %w", s.url, err)}
	}
	return nc, nil
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
