package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Main is the subcommand sources of the command campaign: its arguments are packages.
func Main(_ context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("sources: name the packages, from the root of the module")
	}
	module := os.DirFS(".")
	for _, pkg := range args {
		files, err := Under(module, pkg)
		if err != nil {
			return err
		}
		mark, err := Mark(module, files)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s: %d files\n", mark, pkg, len(files))
	}
	return nil
}
