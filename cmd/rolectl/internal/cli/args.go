package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/naming"
)

// CheckArgs checks the arguments of a command by their names in its usage line: "tasks submit KIND
// [INPUT|-]" needs one argument and takes a second. A name with dots may have any number of
// arguments.
func CheckArgs(cmd *cobra.Command, args []string) error {
	names := ArgumentNames(cmd)
	for i, name := range names {
		optional := strings.HasPrefix(name, "[")
		if err := checkName(name, args[min(i, len(args)):]); err != nil {
			return err
		}
		switch {
		case strings.Contains(name, "..."):
			return nil
		case i >= len(args) && !optional:
			return fmt.Errorf("%s is missing: %s", name, Synopsis(cmd))
		case i >= len(args):
			return nil
		case args[i] == "" && !optional:
			return fmt.Errorf("%s is empty: %s", name, Synopsis(cmd))
		}
	}
	if len(args) > len(names) {
		return fmt.Errorf("unexpected argument %q: %s", args[len(names)], Synopsis(cmd))
	}
	return nil
}

// checkName checks the arguments for a name, as far as that is possible without a server: an
// impossible name is in no bucket.
func checkName(name string, args []string) error {
	what := map[string]string{"ROLE": "a role", "INSTANCE": "an instance"}[strings.Trim(name, "[].")]
	if !strings.Contains(name, "...") {
		args = args[:min(1, len(args))]
	}
	for _, arg := range args {
		if what != "" && arg != "" && !naming.Valid(arg) {
			return fmt.Errorf(
				"%q is not a valid name for %s: use letters, digits, - _ = / and dots, at most 200 bytes, no dot at the ends",
				arg, what)
		}
	}
	return nil
}

// ArgumentNames returns the names of a command's arguments.
func ArgumentNames(cmd *cobra.Command) (names []string) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if word != "[flags]" {
			names = append(names, word)
		}
	}
	return names
}

// Synopsis is the usage of a command in one line.
func Synopsis(cmd *cobra.Command) string {
	return strings.Join(append([]string{cmd.CommandPath()}, ArgumentNames(cmd)...), " ")
}
