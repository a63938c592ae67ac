//go:build !unix

package roles

import "os"

// terminalResizes tells nothing here: the next redraw sees the size.
func terminalResizes() (<-chan os.Signal, func()) { return nil, func() {} }
