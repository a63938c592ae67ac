package cli

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// App is what all commands have in common: the global flags, and one connection.
type App struct {
	Settings connect.Settings
	Bucket   string
	Format   string
	Begun    bool // a command has begun: what is wrong from now on is not its usage
	Conn     *nats.Conn
	Target   connect.Target
	Unread   atomic.Bool // nobody reads what is written
}

// Connect goes to the server; the connection is closed when the program ends.
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

// Disconnect closes the connection, if there is one.
func (a *App) Disconnect() {
	if a.Conn != nil {
		a.Conn.Close()
	}
}

// ConnectFor connects and bounds what one question to the server may take.
func (a *App) ConnectFor(cmd *cobra.Command) (context.Context, context.CancelFunc, *nats.Conn, error) {
	nc, err := a.Connect()
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.Target.Timeout)
	return ctx, cancel, nc, nil
}

// Printer writes data in the format that was asked for.
func (a *App) Printer() show.Printer {
	return show.Printer{W: os.Stdout, Format: a.Format, Color: show.WantsColor(os.Stdout)}
}

// Say tells the user something that is not data.
func (a *App) Say(format string, args ...any) {
	text := show.Clean(fmt.Sprintf(format, args...))
	if a.Format != "json" {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	_ = show.Printer{W: os.Stderr}.Line(struct { // nobody misses what cannot be written
		show.Document
		Message string `json:"message"`
	}{show.Of("note"), text})
}

// WithServer runs a command over the connection, within the time that one question has.
func (a *App) WithServer(cmd *cobra.Command, run func(ctx context.Context, nc *nats.Conn) error) error {
	ctx, cancel, nc, err := a.ConnectFor(cmd)
	if err != nil {
		return err
	}
	defer cancel()
	return run(ctx, nc)
}
