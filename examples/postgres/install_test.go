package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// installed finds the newest programs of PostgreSQL, which Debian keeps out of PATH. In CI it
// installs them.
func installed() (string, error) {
	const install = "apt-get update -q && " +
		"DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends postgresql"
	for try := 0; ; try++ {
		if path, err := exec.LookPath("initdb"); err == nil {
			path, err = filepath.EvalSymlinks(path)
			return filepath.Dir(path), err
		}
		if all, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(all) > 0 {
			return filepath.Dir(slices.Max(all)), err
		}
		if os.Getenv("CI") == "" || try > 0 {
			return "", exec.ErrNotFound
		}
		if out, err := exec.Command("sh", "-c", install).CombinedOutput(); err != nil {
			return "", fmt.Errorf("it cannot be installed: %w\n%s", err, out)
		}
	}
}

// other is the user of the server, who gets the directory.
func other(dir string) (*syscall.Credential, error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2, os.Chown(dir, uid, gid))
}
