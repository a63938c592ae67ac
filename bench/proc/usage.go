//go:build linux

package proc

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Memory is what a process holds, after a collection.
type Memory struct {
	Heap       uint64
	Goroutines int
}

// CPU is the processor time that this process has used, in user and in kernel mode.
func CPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

func memory() Memory {
	runtime.GC()
	runtime.GC() // what the first one's finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{Heap: m.HeapAlloc + m.StackInuse, Goroutines: runtime.NumGoroutine()}
}
