package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// whole reports why /proc does not show all processes of our PID namespace, by our numbers.
func whole() error {
	self, err := os.Readlink("/proc/self")
	if err != nil || self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("%w: it is that of another one", ErrHidden)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHidden, err)
	}
	for line := range strings.Lines(string(mounts)) {
		// id parent device root point options ... - type source options
		before, after, _ := strings.Cut(line, " - ")
		mount, is := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(is) < 3 || mount[4] != "/proc" || is[0] != "proc" {
			continue
		}
		for option := range strings.SplitSeq(is[2], ",") {
			name, value, _ := strings.Cut(option, "=")
			if name == "hidepid" && value != "0" && value != "off" || name == "subset" {
				return fmt.Errorf("%w: it is mounted with %s", ErrHidden, option)
			}
		}
	}
	return nil
}

// namespace returns the numbers of a process from our PID namespace to its own.
func namespace(pid int) ([]string, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, gone(err)
	}
	for line := range bytes.Lines(status) {
		if list, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			return strings.Fields(string(list)), nil
		}
	}
	return nil, errors.New("its PID namespace is not known")
}

// gone is ErrEnded if an error of reading /proc says that there is no such process.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return ErrEnded
	}
	return err
}

// numbers lists the processes of our PID namespace.
func numbers() (list []int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list, err
}
