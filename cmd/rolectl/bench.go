package main
import "github.com/spf13/cobra"
func bench(a *app) *cobra.Command { return &cobra.Command{Use:"bench", Run: func(*cobra.Command, []string){}} }
