//go:build !linux

package guard

import (
	"context"
	"fmt"
	"os/exec"
)

var errLinux = fmt.Errorf("%w: it needs Linux: start the program without a guard", ErrUnsupported)

// Run returns ErrUnsupported: it needs Linux.
func Run(context.Context, Config, *exec.Cmd) (Result, error) { return Result{}, errLinux }

// Serve returns ErrUnsupported: it needs Linux.
func Serve(context.Context, Config, string, func(Result)) error { return errLinux }
