package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Confirm asks the user on the terminal. Without a terminal there is nobody to ask, and --yes is
// needed.
func (a *App) Confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !show.IsTerminal(a.In) || !show.IsTerminal(a.Err) {
		return UsageError(errors.New("not on a terminal, so nobody can be asked: give --yes to continue"))
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", wording.Clean(question))
	answered := make(chan string, 1)
	go func() { // ends with the program: a read of a terminal cannot be cancelled
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
	}
	return ExitWith(ExitFailed, errors.New("nothing was done"))
}
