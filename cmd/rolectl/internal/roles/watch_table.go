package roles

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// table keeps a table up to date on the alternate screen of the terminal. At the end it prints the
// last table on the normal one.
func (w watcher) table(ctx context.Context, out *os.File) error {
	events := w.s.Events(ctx)
	resized, stop := terminalResizes()
	defer stop()
	tick := time.NewTicker(show.RedrawEvery)
	defer tick.Stop()
	screen := show.OpenScreen(out, w.printer.Color)
	last := func() error {
		screen.Close()
		return w.printer.Print(roleTable(w.bucket, w.roles()))
	}
	for {
		status := "connected"
		if !w.nc.IsConnected() {
			status = "no connection: this is the last known state"
		}
		title := fmt.Sprintf("bucket %s, %s, %s", w.bucket, status, wording.Count(len(w.s.Members()), "member"))
		if err := screen.Draw(title, func(p show.Printer) error {
			p.Format = w.printer.Format
			return p.Print(roleTable(w.bucket, w.roles()))
		}); err != nil {
			screen.Close()
			return err
		}
		select {
		case _, ok := <-events:
			if !ok {
				if err := last(); err != nil {
					return err
				}
				return w.ended(ctx)
			}
		case <-resized:
		case <-tick.C:
		case <-ctx.Done():
			return last()
		}
	}
}
