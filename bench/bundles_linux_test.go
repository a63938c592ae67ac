//go:build realtime

package bench

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkBundles: what a store that syncs takes for the records of so many tasks, each in a
// record of its own, and several in one. It is a prototype of the writes alone: nobody reads them.
func BenchmarkBundles(b *testing.B) {
	const tasks = 16_000
	for _, c := range []struct{ records, bundle int }{
		{256, 1}, {1000, 1}, {32, 8}, {125, 8}, {4, 64}, {16, 64}, {1, 256}, {1, 1000},
	} {
		b.Run(fmt.Sprintf("records=%d/tasks=%d", c.records, c.bundle), func(b *testing.B) {
			s := natstest.Server(b, natstest.Listen, func(o *natsrun.Options) { o.SyncAlways = true })
			nc := natstest.Connect(b, s)
			bucket, err := natskv.Create(b.Context(), nc, natskv.Config{Bucket: "b"})
			if err != nil {
				b.Fatal(err)
			}
			w, err := natskv.NewWriter(nc, bucket)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(w.Close)
			var took sample
			written, used, began := 0, usage(b), time.Now()
			for b.Loop() {
				for n := 0; n < tasks; n += c.records * c.bundle {
					ops := make([]natskv.Write, c.records)
					for i := range ops {
						ops[i] = natskv.Write{
							Key:    fmt.Sprintf("q.%022d", written+i*c.bundle),
							Value:  bytes.Repeat([]byte("a task of 64 bytes, its header and what says where it begins...."), c.bundle),
							Header: []natskv.Field{{Name: "Task", Value: `{"k":"job.v1","a":100}`}},
						}
					}
					done := make(chan natskv.Result, 1) // one answer
					from := time.Now()
					w.SubmitEach(ops, patience, func(r natskv.Result) { done <- r })
					if r := <-done; r.Outcome != natskv.Won {
						b.Fatalf("%+v", r)
					}
					took.add(time.Since(from))
					written += c.records * c.bundle
				}
			}
			b.ReportMetric(float64(written)/time.Since(began).Seconds(), "tasks/s")
			b.ReportMetric(float64((usage(b)-used).Nanoseconds())/float64(written), "cpu-ns/task")
			took.report(b, "write-")
		})
	}
}

// usage is the processor time of this process, server and client.
func usage(b *testing.B) time.Duration {
	b.Helper()
	u, err := proc.Used()
	if err != nil {
		b.Fatal(err)
	}
	return u.CPU
}
