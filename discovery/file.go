package discovery

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mostBytes is how much of a file or an answer is read.
const mostBytes = 4 << 20

// File is a list in a file: one server per line, its URL and, after a space, its zone. A line that
// begins with # is a comment. Replace the file by renaming a new one over it: a file that is
// written in place can be read half.
type File struct {
	// Path of the file.
	Path string
	// Every is how often the file is read. Default 2 s, minimum 10 ms.
	Every time.Duration
}

// Next implements [Servers]. Errors: *[LookupError] and that of ctx.
func (f File) Next(ctx context.Context, last []Server) ([]Server, error) {
	if f.Path == "" {
		return nil, &ConfigError{"Path", "it is empty: name the file of the servers"}
	}
	return poll(ctx, "file "+f.Path, last, max(cmp.Or(f.Every, 2*time.Second), 10*time.Millisecond), f.read)
}

func (f File) read(context.Context) ([]Server, error) {
	text, err := content(f.Path)
	if err != nil {
		return nil, err
	}
	return readLines(string(text))
}

// content is that of a regular file, up to mostBytes. Another one could block for ever.
func content(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: %s", path, info.Mode().Type())
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was read only
	return bounded(file)
}

// readLines reads the text of a file.
func readLines(text string) (list []Server, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) > 2 {
			return nil, fmt.Errorf("line %d has %d words: write the URL and, after a space, the zone", n, len(words))
		}
		if _, err := normal(words[0]); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(list) == MostServers {
			return nil, ErrTooMany
		}
		list = append(list, Server{words[0], strings.Join(words[1:], "")})
	}
	return list, nil
}

// bounded reads everything, up to mostBytes. Errors: ErrTooLarge.
func bounded(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostBytes {
		return nil, ErrTooLarge
	}
	return data, nil
}
