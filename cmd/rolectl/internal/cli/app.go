package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// App is what all commands share: the streams, the global flags and the environment, and one
// connection. Commands that start a program hand the streams of the process on to it.
type App struct {
	In, Out, Err *os.File

	Settings connect.Settings
	Bucket   string
	Format   string
	Color    string // auto, always or never
	Begun    bool   // a command has begun: later errors are not usage errors
	Conn     *nats.Conn
	Target   connect.Target
	Unread   atomic.Bool // nobody reads the output any more
}

// OfProcess returns an App with the streams and the environment of this process.
func OfProcess() *App {
	return &App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Settings: connect.Settings{Env: os.Getenv}}
}

// EnvOr returns the value of an environment variable, or a default if that is empty.
func (a *App) EnvOr(name, otherwise string) string { return cmp.Or(a.Settings.Env(name), otherwise) }

// Connect returns the connection to the server, which is closed when the program ends. Options
// count for the first call.
func (a *App) Connect(options ...nats.Option) (*nats.Conn, error) {
	if a.Conn != nil {
		return a.Conn, nil
	}
	target, err := a.Settings.Resolve()
	if err != nil {
		return nil, UsageError(err)
	}
	if _, err := target.Options(); err != nil {
		return nil, UsageError(err)
	}
	a.Target = target
	if a.Conn, err = target.Dial(options...); err != nil {
		return nil, err
	}
	return a.Conn, nil
}

// Reach leads to the JetStream that keeps the bucket. It counts after Connect.
func (a *App) Reach() natskv.Reach { return a.Target.Reach }

// Direct returns an error if a JetStream domain or an API prefix is set.
func (a *App) Direct(what string) error {
	target, err := a.Settings.Resolve()
	if err == nil && !target.Reach.IsZero() {
		err = fmt.Errorf("%s uses the JetStream of the server itself: "+
			"connect to the server to measure, without --js-domain and --js-api-prefix", what)
	}
	if err != nil {
		return UsageError(err)
	}
	return nil
}

// Disconnect closes the connection, if there is one.
func (a *App) Disconnect() {
	if a.Conn != nil {
		a.Conn.Close()
		a.Conn = nil
	}
}

// ConnectFor connects, and returns a context for one question to the server.
func (a *App) ConnectFor(cmd *cobra.Command) (context.Context, context.CancelFunc, *nats.Conn, error) {
	nc, err := a.Connect()
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.Target.Timeout)
	return ctx, cancel, nc, nil
}

// Printer writes data in the format of --output.
func (a *App) Printer() show.Printer {
	return show.Printer{
		W: a.Out, Format: a.Format, Color: show.WantsColor(a.Out, a.Color, a.Settings.Env),
		Width: show.Columns(a.Out),
	}
}

// Say writes a note for the user, on standard error.
func (a *App) Say(format string, args ...any) {
	text := wording.Clean(fmt.Sprintf(format, wording.PlainArgs(args)...))
	if a.Format != "json" {
		fmt.Fprintln(a.Err, text)
		return
	}
	_ = show.Printer{W: a.Err}.Line(struct { // a note that cannot be written is dropped
		show.Document
		Message string `json:"message"`
	}{show.Of("note"), text})
}

// WithServer runs a command over the connection, within the time for one question.
func (a *App) WithServer(cmd *cobra.Command, run func(ctx context.Context, nc *nats.Conn) error) error {
	ctx, cancel, nc, err := a.ConnectFor(cmd)
	if err != nil {
		return err
	}
	defer cancel()
	return run(ctx, nc)
}
