package supervise

import "golang.org/x/sys/unix"

// zombie is the state of a dead process that was not waited for (SZOMB in sys/proc.h).
const zombie = 5

// others reports whether a process group has a live member other than its leader.
func others(group int) bool {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return false
	}
	for _, p := range all {
		if int(p.Proc.P_pid) != group && p.Proc.P_stat != zombie {
			return true
		}
	}
	return false
}
