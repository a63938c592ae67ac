package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
)

// validBucket matches the bucket names that JetStream takes.
var validBucket = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// CheckBucketName returns an error for a name that no bucket can have.
func CheckBucketName(name string) error {
	if !validBucket.MatchString(name) {
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
