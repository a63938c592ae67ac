package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzDefinition: whatever record stands at a recurrence's key is read in memory in proportion, and
// what is accepted fires at moments that lie after each other.
func FuzzDefinition(f *testing.F) {
	const record = `{"v":1,"spec":%q,"zone":%q,"catch_up":"latest","catch_up_window_ms":60000,"task":{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":3600},"input":"aW4="}`
	for _, spec := range []string{"30 2 * * *", "@every 90m", "@every 2562047h", "0 0 31 2 *", "TZ=0"} {
		for _, zone := range []string{"", "Europe/Berlin", "Local", "../zone"} {
			f.Add([]byte(fmt.Sprintf(record, spec, zone)), "nightly")
		}
	}
	f.Add([]byte(`{}`), strings.Repeat("n", 300))
	f.Fuzz(func(t *testing.T, value []byte, name string) {
		e := &natskv.Entry{Value: value, Time: time.Unix(1_774_692_423, 0).UTC()}
		var d Definition
		var err error
		limit := 1<<20 + 128*uint64(len(value)+len(name))
		if heap.Took(limit, func() { d, err = ReadDefinition(name, e, Headroom+1<<10) }) > limit {
			t.Errorf("more than %d bytes for a record of %d", limit, len(value))
		}
		if err != nil {
			return
		}
		again := d.Recurrence
		ok := again.Succeed(value, e.Time)
		if since := again.Start(e.Time); !ok || since.After(e.Time) || !again.Same(value) {
			t.Errorf("%s: continued since %v", value, since)
		}
		if next := d.Schedule.Next(e.Time); !next.IsZero() && (!next.After(e.Time) || next.Nanosecond() != 0) {
			t.Errorf("%s: %v follows %v", value, next, e.Time)
		}
	})
}
