package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// takes checks the arguments of a command by the names that its usage line has for them: "tasks submit KIND [INPUT|-]" wants
// one, and may have a second. Those with dots may come any number of times.
func takes(cmd *cobra.Command, args []string) error {
	names := argumentsOf(cmd)
	for i, name := range names {
		optional := strings.HasPrefix(name, "[")
		switch {
		case strings.Contains(name, "..."):
			return nil
		case i >= len(args) && !optional:
			return fmt.Errorf("%s is missing: %s", name, synopsis(cmd))
		case i >= len(args):
			return nil
		case args[i] == "" && !optional:
			return fmt.Errorf("%s is empty: %s", name, synopsis(cmd))
		}
	}
	if len(args) > len(names) {
		return fmt.Errorf("%q is one argument too many: %s", args[len(names)], synopsis(cmd))
	}
	return nil
}

// argumentsOf are the names of a command's arguments.
func argumentsOf(cmd *cobra.Command) (names []string) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if word != "[flags]" {
			names = append(names, word)
		}
	}
	return names
}

// synopsis is how a command is called, in one line.
func synopsis(cmd *cobra.Command) string {
	return strings.Join(append([]string{cmd.CommandPath()}, argumentsOf(cmd)...), " ")
}
