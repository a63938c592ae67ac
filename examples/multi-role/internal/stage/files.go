package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// walked is a file as it was when the tree was walked.
type walked struct {
	File
	mod time.Time
}

// errEmptyTree means that there is nothing to do.
var errEmptyTree = errors.New("there is no regular file in it")

// walk lists the regular files below root. It does not follow symbolic links, and leaves .git
// directories out. Directories that cannot be read are returned beside the files.
func walk(root string) (files []walked, unreadable []error, err error) {
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
		files = append(files, walked{File{path, filepath.ToSlash(rel), info.Size()}, info.ModTime()})
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

// digest is the SHA-256 of a file, computed here and at full speed.
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

// changed reports whether the file was written or removed since the tree was walked.
func (f walked) changed() bool {
	info, err := os.Stat(f.Path)
	return err != nil || info.Size() != f.Size || !info.ModTime().Equal(f.mod)
}
