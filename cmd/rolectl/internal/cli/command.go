package cli

import (
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"
)

// validBucket is what JetStream's key-value takes as the name of a bucket.
var validBucket = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// CheckBucketName refuses a name that no bucket can have.
func CheckBucketName(name string) error {
	if !validBucket.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a bucket: use letters, digits, - and _", name)
	}
	return nil
}

// EnvOr is the value of an environment variable, or a default where that is empty.
func EnvOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// Group is a command that only has others below it: alone it shows them, and what it does not know is bad input.
func Group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: ShowHelp,
	}
}

// ShowHelp shows the help of a command that only has others below it.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
