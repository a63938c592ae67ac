package witness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// namedScope is the cgroup of a process in our own PID namespace, by hierarchy. It is empty when no
// process that we see is in it.
type namedScope map[string]string

func (s namedScope) empty() (bool, error) {
	// A process that forks and ends may hide from one who asks one after the other. So no number may
	// be given to a process, or thread, while we ask.
	before, err := newest()
	if err != nil {
		return false, err
	}
	all, err := numbers()
	if err != nil {
		return false, err
	}
	for _, pid := range all {
		its, err := cgroups(pid)
		switch {
		case errors.Is(err, ErrEnded):
			continue
		case err != nil:
			return false, fmt.Errorf("%w: %w", ErrHidden, err)
		}
		for hierarchy, path := range s {
			switch its := its[hierarchy]; {
			case below(its, path):
				return false, nil
			case its == "/" && threadBelow(pid, hierarchy, path):
				return false, nil
			}
		}
	}
	after, err := newest()
	return after == before, err
}

func (s namedScope) close() {}

// threadBelow reports whether a thread of a process is in a cgroup. Of a process whose first thread
// has ended, version 1 says that it is in the topmost one.
func threadBelow(pid int, hierarchy, path string) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/cgroup", pid)) // the pattern is right
	for _, file := range threads {
		if its, err := cgroupsIn(file); err == nil && below(its[hierarchy], path) {
			return true
		}
	}
	return false
}

// newest is the number that was given last in our PID namespace.
func newest() (string, error) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(data))
	if len(fields) != 5 {
		return "", errors.New("/proc/loadavg does not name the newest process")
	}
	return fields[4], nil
}
