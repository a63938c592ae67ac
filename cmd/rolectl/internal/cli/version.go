package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// ModuleVersion is the version of the module: the one given to "go install", or one that Go derives
// from a working copy.
func ModuleVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// Version is the version of this program, and server that of the server that dev runs.
func Version(server string) string {
	return fmt.Sprintf("%s (dev runs nats-server %s; %s)", ModuleVersion(), server, runtime.Version())
}

// build is what this program was made of, as a JSON document.
type build struct {
	show.Document
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the working copy had changes
	Go       string `json:"go"`
	Client   string `json:"nats_client"`
	Server   string `json:"nats_server"`
}

func thisBuild(server string) build {
	b := build{
		Document: show.Of("version"), Version: ModuleVersion(), Go: runtime.Version(), Client: nats.Version,
		Server: server,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// VersionCommand is the command "rolectl version". The server is the one that dev runs.
func VersionCommand(a *App, server string) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version and the commit of this program, and the versions of Go and NATS in it",
		Example: "  rolectl version\n  rolectl version -o json | jq -r .commit", Args: CheckArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			b, p := thisBuild(server), a.Printer()
			switch p.Format {
			case "json":
				return p.JSON(b)
			case "name":
				_, err := fmt.Fprintln(p.W, b.Version)
				return err
			}
			commit := b.Commit
			switch {
			case commit == "":
				commit = "unknown: built without version control"
			case b.Modified:
				commit += ", with changes"
			}
			_, err := fmt.Fprintf(p.W, "rolectl      %s\ncommit       %s\ngo           %s\nnats client  %s\n"+
				"nats server  %s (rolectl dev)\n", b.Version, commit, b.Go, b.Client, b.Server)
			return err
		},
	}
}
