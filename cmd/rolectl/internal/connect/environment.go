package connect

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Environment returns the value of a variable, "" if it is not set: os.Getenv in a program.
type Environment func(name string) string

// home is the home directory of this user, "" if there is none, as os.UserHomeDir says.
func (e Environment) home() string {
	if runtime.GOOS == "windows" {
		return e("USERPROFILE")
	}
	return e("HOME")
}

// expand replaces a leading ~ as the nats tool does in its contexts.
func (e Environment) expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok || e.home() == "" {
		return path
	}
	return filepath.Join(e.home(), rest)
}
