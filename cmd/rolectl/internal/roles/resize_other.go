//go:build !unix

package roles

import "os"

// terminalResizes reports nothing here: the next redraw uses the new size.
func terminalResizes() (<-chan os.Signal, func()) { return nil, func() {} }
