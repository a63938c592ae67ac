//go:build !linux

package guard

import (
	"context"
	"os/exec"
)

// Run returns ErrUnsupported: it needs Linux.
func Run(context.Context, Config, *exec.Cmd) (Result, error) { return Result{}, ErrUnsupported }

// Serve returns ErrUnsupported: it needs Linux.
func Serve(context.Context, Config, string, func(Result)) error { return ErrUnsupported }
