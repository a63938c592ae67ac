package schedules

import (
	"io/fs"
	"os"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
)

// rulesOf is a mark of the Go files in some directories, without their tests: lines with the same
// one are of the same rules.
func rulesOf(module fs.FS, dirs []string) (string, error) {
	files, err := sources.In(module, dirs...)
	if err != nil {
		return "", err
	}
	return sources.Mark(module, files)
}

// present is the mark of what a kind plays as it is now.
func (k kind) present() (string, error) { return rulesOf(os.DirFS("."), k.rules) }
