package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats-server/v2/server"
)

// ownVersion is that of the module: what "go install" was given, or what Go makes of a working copy.
func ownVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

// version says what this program is, and which server dev runs.
func version() string {
	return fmt.Sprintf("%s (dev runs nats-server %s; %s)", ownVersion(), server.VERSION, runtime.Version())
}
