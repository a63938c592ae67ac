package main

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

// app is what all commands have in common: the global flags, and one connection.
type app struct {
	settings connect.Settings
	bucket   string
	format   string
	begun    bool // a command has begun: what is wrong from now on is not its usage
	nc       *nats.Conn
	target   connect.Target
	unread   atomic.Bool // nobody reads what is written
}

// connect goes to the server; the connection is closed when the program ends.
func (a *app) connect(options ...nats.Option) (*nats.Conn, error) {
	if a.nc != nil {
		return a.nc, nil
	}
	target, err := a.settings.Resolve()
	if err != nil {
		return nil, usage(err)
	}
	if _, err := target.Options(); err != nil {
		return nil, usage(err)
	}
	a.target = target
	if a.nc, err = target.Dial(options...); err != nil {
		return nil, err
	}
	return a.nc, nil
}

func (a *app) disconnect() {
	if a.nc != nil {
		a.nc.Close()
	}
}

// asking connects and bounds what one question to the server may take.
func (a *app) asking(cmd *cobra.Command) (context.Context, context.CancelFunc, *nats.Conn, error) {
	nc, err := a.connect()
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.target.Timeout)
	return ctx, cancel, nc, nil
}

// printer writes data in the format that was asked for.
func (a *app) printer() show.Printer {
	return show.Printer{W: os.Stdout, Format: a.format, Color: show.WantsColor(os.Stdout)}
}

// say tells the user something that is not data.
func (a *app) say(format string, args ...any) {
	text := show.Clean(fmt.Sprintf(format, args...))
	if a.format != "json" {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	_ = show.Printer{W: os.Stderr}.Line(struct { // nobody misses what cannot be written
		show.Document
		Message string `json:"message"`
	}{show.Of("note"), text})
}
