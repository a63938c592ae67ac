//go:build !unix

package main

import "os"

// windowChanges tells nothing here: the next redraw sees the size.
func windowChanges() (<-chan os.Signal, func()) { return nil, func() {} }
