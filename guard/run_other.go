//go:build !linux

package guard

import (
	"context"
	"os/exec"
)

// Run returns ErrUnsupported: it needs Linux.
func Run(context.Context, Config, *exec.Cmd) (Result, error) { return Result{}, ErrUnsupported }
