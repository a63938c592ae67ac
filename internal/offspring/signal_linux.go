package offspring

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Signal sends a signal to all descendants of this process but one, 0 for none. A process that
// forks meanwhile may have a child that is not reached: repeat it until nobody is left.
func Signal(s unix.Signal, but int) {
	for _, pid := range descendants(os.Getpid()) {
		if pid != but {
			_ = unix.Kill(pid, s)
		}
	}
}

// descendants lists the processes below one, as they are now.
func descendants(of int) (list []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right, so there is no error
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil { // it has ended meanwhile
			continue
		}
		text, rest, _ := bytes.Cut(data, []byte(" "))
		// pid (name) state ppid ...: the name may hold anything, parentheses too
		fields := bytes.Fields(rest[bytes.LastIndexByte(rest, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(string(text))
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], pid)
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		list, next = append(list, pid), append(next[1:], children[pid]...)
	}
	return list
}
