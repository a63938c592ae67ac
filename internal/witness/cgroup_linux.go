package witness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupOf finds the cgroup of a process: a directory that says when it is empty, or else its name
// among those of all processes that we see.
func cgroupOf(pid int) (scope, error) {
	its, err := cgroups(pid)
	if err != nil {
		return nil, err
	}
	ours, err := cgroups(os.Getpid())
	if err != nil {
		return nil, err
	}
	if path, ok := its[""]; ok && !below(ours[""], path) {
		if s, err := openCgroup(path, pid); err == nil {
			return s, nil
		}
	}
	apart := map[string]string{} // where we are not in its cgroup
	for hierarchy, path := range its {
		if mine, ok := ours[hierarchy]; ok && !below(mine, path) {
			apart[hierarchy] = path
		}
	}
	if len(apart) == 0 {
		return nil, ErrShared
	}
	if inner, err := namespace(pid); err != nil || len(inner) != 1 {
		return nil, errors.New("the first process of its PID namespace cannot be seen")
	}
	return namedScope(apart), nil
}

// cgroups returns the cgroup of a process by hierarchy. That of version 2 has the name "".
func cgroups(pid int) (map[string]string, error) {
	return cgroupsIn(fmt.Sprintf("/proc/%d/cgroup", pid))
}

func cgroupsIn(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, gone(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(data)) {
		// number:controllers:path
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) == 3 {
			list[parts[1]] = strings.TrimSuffix(parts[2], " (deleted)")
		}
	}
	return list, nil
}

// below reports whether a cgroup is another one, or is in it.
func below(path, of string) bool {
	return path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/")
}

// cgroupScope is a cgroup of version 2, by its file of events.
type cgroupScope struct{ events *os.File }

// openCgroup opens the cgroup in which the process is now.
func openCgroup(path string, pid int) (scope, error) {
	root, err := mountPoint()
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	members, err := dir.ReadFile("cgroup.procs")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Fields(string(members)), strconv.Itoa(pid)) {
		return nil, errors.New("it is not in the cgroup of its name")
	}
	events, err := dir.Open("cgroup.events")
	if err != nil {
		return nil, err
	}
	return &cgroupScope{events}, nil
}

// mountPoint is where the cgroups of version 2 are.
func mountPoint() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		mount := strings.Fields(before)
		if len(mount) >= 5 && mount[3] == "/" && strings.HasPrefix(after, "cgroup2 ") {
			return mount[4], nil
		}
	}
	return "", errors.New("cgroups of version 2 are not mounted")
}

func (s *cgroupScope) empty() (bool, error) {
	data := make([]byte, 256)
	n, err := s.events.ReadAt(data, 0)
	if errors.Is(err, unix.ENODEV) { // it was removed, so it was empty
		return true, nil
	}
	text := data[:n]
	switch {
	case bytes.Contains(text, []byte("populated 0\n")):
		return true, nil
	case bytes.Contains(text, []byte("populated 1\n")):
		return false, nil
	}
	return false, fmt.Errorf("its cgroup does not say whether it is empty: %w", err)
}

func (s *cgroupScope) close() { s.events.Close() }
