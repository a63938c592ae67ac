package view

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// BenchmarkFormerRole: the memory that the name of a former role takes in a process, until its
// vacancy leaves the bucket.
func BenchmarkFormerRole(b *testing.B) {
	const names = 100_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		w := newWatcher()
		before := heap()
		for i := range names {
			w.sees(fmt.Sprint("c.role.tenant-", i), uint64(100+i), record.Role{V: 1, Vacant: true, By: "a", TTLms: 1000})
			w.news.Reset()
		}
		b.ReportMetric((float64(heap())-float64(before))/names, "bytes/name")
		runtime.KeepAlive(w)
	}
	b.ReportMetric(0, "ns/op")
}
