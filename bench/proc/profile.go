//go:build linux

package proc

import (
	"context"
	"encoding/json"
	"os"
	"runtime/pprof"
)

// Profile begins a profile of the processor time of the child, in a new file. [Child.Profiled] ends
// it.
func (c *Child) Profile(ctx context.Context, file string) error {
	return c.Call(ctx, "profile", file, nil)
}

// Profiled ends the profile, and returns when its file is complete.
func (c *Child) Profiled(ctx context.Context) error { return c.Call(ctx, "profiled", nil, nil) }

func profile(args json.RawMessage) error {
	var file string
	if err := json.Unmarshal(args, &file); err != nil {
		return err
	}
	return Profile(file)
}

// Profile begins one of this process. pprof.StopCPUProfile ends it. The file stays open, since a
// process has few.
func Profile(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}
