package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is a regular file of the tree, as it was when the tree was walked.
type file struct {
	path string // absolute
	rel  string // below the root, with slashes
	size int64
	mod  time.Time
}

// errEmptyTree says that there is nothing to do.
var errEmptyTree = errors.New("there is no regular file in it")

// walk lists the regular files below root. Symbolic links are not followed, .git directories are left out, and what is
// neither file nor directory is no input. Directories that cannot be read are returned beside the files, not kept quiet.
func walk(root string) (files []file, unreadable []error, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			unreadable = append(unreadable, err)
			return nil
		case d.IsDir() && d.Name() == ".git" && path != root:
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone since its directory was read
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files = append(files, file{path: path, rel: filepath.ToSlash(rel), size: info.Size(), mod: info.ModTime()})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errEmptyTree
	}
	if err != nil {
		return nil, unreadable, fmt.Errorf("walk %s: %w", root, err)
	}
	return files, unreadable, nil
}

// moduleRoot is the nearest directory from dir upwards that holds a go.mod, else dir.
func moduleRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// digest is the SHA-256 of a file, computed here and at full speed: what the outcome of its task is compared with.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// changed reports whether somebody has written to the file, or removed it, since the tree was walked.
func (f file) changed() bool {
	info, err := os.Stat(f.path)
	return err != nil || info.Size() != f.size || !info.ModTime().Equal(f.mod)
}

// maxTaskPath is how long a path may become in a task id: a UUID goes before it, and 200 bytes are the limit.
const maxTaskPath = 160

// taskID names the task of a file within a run: the same file submitted twice is one task.
//
// Letters, digits, - _ / and dots stay as they are; of everything else, and of dots that NATS would not take, the bytes are
// written as =XX. A path that becomes too long is named by its SHA-256.
func taskID(run, rel string) string {
	var b strings.Builder
	for i := range len(rel) {
		c := rel[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '/',
			c == '.' && i > 0 && rel[i-1] != '.' && i < len(rel)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	name := b.String()
	if len(name) > maxTaskPath {
		sum := sha256.Sum256([]byte(rel))
		name = "=" + hex.EncodeToString(sum[:])
	}
	return run + "/" + name
}
