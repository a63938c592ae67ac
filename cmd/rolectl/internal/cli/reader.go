package cli

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// errUnread says that nobody reads the output. It has no message, because nobody would read that
// either.
var errUnread = ExitCode(ExitUnread)

// lookForReader is how often EndWhenUnread checks for a reader. A write would notice too, but the
// next one may be far away.
const lookForReader = 250 * time.Millisecond

// EndWhenUnread ends the context of a command when nobody reads standard output any more, as in
// "rolectl watch | head -1". It is for commands that only look: a command that changes something
// continues. The command must call release at its end.
func (a *App) EndWhenUnread(cmd *cobra.Command) (release func()) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	cmd.SetContext(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		look := time.NewTicker(lookForReader)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if unread(a.Out) {
					a.Unread.Store(true)
					cancel(errUnread)
				}
			}
		}
	})
	return func() {
		cancel(nil)
		wg.Wait()
	}
}

// OutputClosed reports whether an error means that nobody reads standard output. A broken
// connection has the same errno, so the file counts too.
func (a *App) OutputClosed(err error) bool {
	var where *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &where) && where.Path == a.Out.Name()
}
