//go:build linux

package proc

import (
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sys/unix"
)

// Memory is what a process holds, after a collection.
type Memory struct {
	Heap       uint64
	Goroutines int
}

// Usage is the processor time that a process has used, in user and in kernel mode, and what its
// garbage collector has up to its last cycle, without what that did only because nobody else in the
// process had anything to do. The latter is the runtime's estimate: it counts the time in which the
// collector waits for a processor too, so that it is an upper bound.
type Usage struct{ CPU, Collector time.Duration }

// Used is the usage of this process.
func Used() (u Usage, err error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return u, err
	}
	u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	gc := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(gc)
	u.Collector = time.Duration((gc[0].Value.Float64() - gc[1].Value.Float64()) * float64(time.Second))
	return u, nil
}

func memory() Memory {
	runtime.GC()
	runtime.GC() // what the first one's finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{Heap: m.HeapAlloc + m.StackInuse, Goroutines: runtime.NumGoroutine()}
}
