package guard

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/guard"
)

// serve guards the processes at a socket until ctx ends.
func serve(ctx context.Context, a *cli.App, o options) error {
	mode, err := socketMode(o.mode)
	if err != nil {
		return cli.UsageError(err)
	}
	nc, err := connect(a)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if o.quiet {
		level = slog.LevelWarn
	}
	return guard.Serve(ctx, guard.Config{
		Conn: nc, WriteTimeout: o.write, SocketMode: mode,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	}, o.listen, func(r guard.Result) { report(a, r, o.quiet) })
}

// socketMode reads the mode of a file, as in chmod.
func socketMode(text string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 9)
	if err != nil {
		return 0, fmt.Errorf("--socket-mode %s is not the mode of a file: give 0600 or 0660", text)
	}
	return fs.FileMode(n), nil
}
