package connect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// configDir is the directory of the nats tool's files, "" if this user has no home.
func (e Environment) configDir() string {
	if dir := e("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "nats")
	}
	home := e.home()
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".config", "nats")
}

// Contexts returns the names of all contexts.
func (e Environment) Contexts() []string {
	// the pattern is right, so there is no error
	files, _ := filepath.Glob(filepath.Join(e.configDir(), "context", "*.json"))
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

// selected is the name of the context that "nats context select" has chosen, "" for none.
func (e Environment) selected() string {
	dir := e.configDir()
	if dir == "" {
		return ""
	}
	name, err := os.ReadFile(filepath.Join(dir, "context.txt"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// load reads a context; "" is the selected one, if any.
func (t *Target) load(name string) error {
	asked := name != ""
	if !asked {
		if name = t.env.selected(); name == "" {
			return nil
		}
	}
	if strings.ContainsAny(name, `/\`) || name == ".." {
		return fmt.Errorf("context %q: a name cannot be a path", name)
	}
	file := filepath.Join(t.env.configDir(), "context", name+".json")
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked: // selected, and removed later
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no context %q: %s", name, t.env.known())
	case err != nil:
		return fmt.Errorf("read context %s: %w", name, err)
	}
	if t.login, err = readContext(data); err != nil {
		return fmt.Errorf(
			"context %s: %s is not a valid context of the nats tool (%w): repair it with \"nats context edit %s\", or give "+
				"--no-context", name, file, err, name)
	}
	t.Context = name
	return nil
}

// readContext reads the file of a context as the nats tool does. An error gives the place of a
// fault, and nothing of the content, which may be a password.
func readContext(data []byte) (l login, err error) {
	err = json.Unmarshal(data, &l)
	syntax, kind := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	switch {
	case err == nil:
		return l, nil
	case errors.As(err, &kind) && kind.Field != "":
		err = fmt.Errorf("%s is not a valid %s", kind.Field, kind.Type)
	case errors.As(err, &syntax):
		err = fmt.Errorf("byte %d is not valid JSON", syntax.Offset)
	default:
		err = errors.New("it is not a JSON object")
	}
	return login{}, err
}

func (e Environment) known() string {
	names := e.Contexts()
	if len(names) == 0 {
		return `there are none; make one with "nats context add", or give --server`
	}
	slices.Sort(names)
	return "there are " + strings.Join(names, ", ")
}

// InContext is the target of a context: its user, and the servers of t if it names none. Flags and
// the environment do not count for it.
func (t Target) InContext(name string) (Target, error) {
	other := Target{env: t.env, Timeout: t.Timeout}
	if err := other.load(name); err != nil {
		return Target{}, err
	}
	other.URL = cmp.Or(other.URL, t.URL)
	return other, other.check()
}
