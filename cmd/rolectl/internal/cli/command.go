package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/naming"
)

// CheckBucketName returns an error for a name that no bucket can have.
func CheckBucketName(name string) error {
	if !naming.Word(name, 100) {
		return fmt.Errorf("%q is not a valid bucket name: use letters, digits, - and _", name)
	}
	return nil
}

// Group is a command that only has subcommands: alone it shows them, and an unknown subcommand is a
// usage error.
func Group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: ShowHelp,
	}
}

// ShowHelp shows the help of a command that only has subcommands.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
