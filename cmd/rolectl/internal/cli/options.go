package cli

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// OptionsCommand is the command "rolectl options". The flags that all commands have are shown by it
// alone, so that the help of a command shows what is special to it.
func OptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "Show the flags that all commands have", Args: CheckArgs,
		Example: "  rolectl options", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(),
				"All commands have these flags, before or after the name of the command:\n\n%s",
				cmd.Root().PersistentFlags().FlagUsages())
			return err
		},
	}
}

// addTemplateFunc adds besidesGlobal to the functions that cobra has for all trees of commands.
var addTemplateFunc = sync.OnceFunc(func() { cobra.AddTemplateFunc("besidesGlobal", besidesGlobal) })

// HideGlobalFlags takes the flags that all commands have out of the helps. Those that a group of
// commands shares are shown with each of them.
func HideGlobalFlags(root *cobra.Command) {
	const local, inherited = "{{.LocalFlags.FlagUsages", "{{.InheritedFlags.FlagUsages"
	template := root.UsageTemplate()
	if !strings.Contains(template, local) || !strings.Contains(template, inherited) {
		panic("cobra has another template for helps")
	}
	addTemplateFunc()
	from := strings.Index(template, "{{if .HasAvailableInheritedFlags}}")
	to := strings.Index(template, "{{if .HasHelpSubCommands}}")
	template = template[:from] + template[to:]
	template = strings.ReplaceAll(template, local, "{{besidesGlobal .")
	root.SetUsageTemplate(strings.TrimRight(template, "\n") + `

Use "{{.Root.Name}} options" for the flags that all commands have.
`)
}

// besidesGlobal is the list of a command's flags, without those that all commands have.
func besidesGlobal(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return cmd.LocalNonPersistentFlags().FlagUsages()
	}
	own := &cobra.Command{}
	own.Flags().SortFlags = cmd.Flags().SortFlags
	own.Flags().AddFlagSet(cmd.LocalFlags())
	for group := cmd.Parent(); group.HasParent(); group = group.Parent() {
		own.Flags().AddFlagSet(group.PersistentFlags())
	}
	return own.Flags().FlagUsages()
}
