package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// others reports whether a process group has a live member other than its leader.
func others(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right, so there is no error
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil { // the process has ended meanwhile
			continue
		}
		// pid (name) state ppid pgrp ...: the name may hold anything, parentheses too.
		pid, _, _ := bytes.Cut(data, []byte(" "))
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 3 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
			continue
		}
		pgrp, _ := strconv.Atoi(string(fields[2]))
		if pgrp == group && string(pid) != strconv.Itoa(group) {
			return true
		}
	}
	return false
}
