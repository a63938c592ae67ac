package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats-server/v2/server"
)

// ModuleVersion is that of the module: what "go install" was given, or what Go makes of a working copy.
func ModuleVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// Version says what this program is, and which server dev runs.
func Version() string {
	return fmt.Sprintf("%s (dev runs nats-server %s; %s)", ModuleVersion(), server.VERSION, runtime.Version())
}
