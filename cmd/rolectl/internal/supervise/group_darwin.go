package supervise

import "golang.org/x/sys/unix"

// zombie is the state of the dead that nobody has waited for (SZOMB in sys/proc.h).
const zombie = 5

// others reports whether anybody but the leader of a process group is in it, the dead that nobody has waited for aside.
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
