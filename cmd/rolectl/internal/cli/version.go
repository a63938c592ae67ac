package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats-server/v2/server"
)

// ModuleVersion is the version of the module: the one given to "go install", or one that Go derives
// from a working copy.
func ModuleVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// Version is the version of this program, and of the server that dev runs.
func Version() string {
	return fmt.Sprintf("%s (dev runs nats-server %s; %s)", ModuleVersion(), server.VERSION, runtime.Version())
}
