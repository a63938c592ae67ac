package witness

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// namespaceScope is a PID namespace below ours. It is empty when its first process has ended: the
// kernel lets that one end last.
type namespaceScope struct{ first *os.File }

// namespaceOf finds the namespace of a process whose numbers are inner.
func namespaceOf(pid int, inner []string) (scope, error) {
	if inner[len(inner)-1] == "1" {
		return open(pid)
	}
	ours, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return nil, err
	}
	all, err := numbers()
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		if !firstOf(other, ours, len(inner)) {
			continue
		}
		s, err := open(other)
		if err != nil {
			return nil, err
		}
		if firstOf(other, ours, len(inner)) && !ended(int(s.first.Fd())) { // the one that the pidfd is of
			return s, nil
		}
		s.close()
	}
	return nil, errors.New("the first process of its PID namespace is not found")
}

// firstOf reports whether a process is the first one of a namespace.
func firstOf(pid int, namespaceLink string, depth int) bool {
	inner, err := namespace(pid)
	if err != nil || len(inner) != depth || inner[depth-1] != "1" {
		return false
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return err == nil && link == namespaceLink
}

func open(pid int) (*namespaceScope, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, gone(err)
	}
	return &namespaceScope{os.NewFile(uintptr(fd), "the first process")}, nil
}

func (s *namespaceScope) empty() (bool, error) { return ended(int(s.first.Fd())), nil }
func (s *namespaceScope) close()               { s.first.Close() }
