package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// errUnread says that nobody reads what is written: that is no fault, and there is nobody to tell.
var errUnread = ExitCode(ExitUnread)

// lookForReader is how often it is looked whether somebody still reads. A write would say so too, but may be far away.
const lookForReader = 250 * time.Millisecond

// EndWhenUnread makes the context of a command end when nobody reads standard output any more, as in "rolectl watch | head -1". It
// is for commands that only look: others do what they were told, whoever reads of it. release must be called at their end.
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
				if unread(os.Stdout) {
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

// OutputClosed reports whether an error is that nobody reads standard output. Connections break in the same way, and that is one.
func OutputClosed(err error) bool {
	var where *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &where) && where.Path == os.Stdout.Name()
}
