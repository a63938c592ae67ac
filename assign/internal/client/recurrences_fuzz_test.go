package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzRecurrence: whatever stands at a recurrence and at its last tick, whenever it was stored, is
// read without harm; what is accepted is within the limits that the rules count on, its ticks come
// one after the other, and who lists it is told of a fault when, and only when, schedulers ignore
// it.
func FuzzRecurrence(f *testing.F) {
	const kept = `{"v":1,"spec":%q,"zone":%q,"catch_up":%q,"catch_up_window_ms":%d,"task":{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":3600},"input":"aW4="}`
	const now = 1_774_692_423
	tick := `{"v":1,"tick":"2026-03-29T02:30:00+01:00"}`
	for _, c := range []struct{ spec, zone, missed string }{
		{"30 2 * * *", "Europe/Berlin", "latest"},
		{"*/15 1-3,7 ? JAN-MAR SUN#2", "", "all"},
		{"@daily", "America/Sao_Paulo", "skip"},
		{"@every 90m", "UTC", "latest"},
		{"0 0 29 2 *", "Australia/Lord_Howe", "all"},
		{"0 0 31 2 *", "", "all"},
		{"0 0 30 12 *", "Pacific/Apia", "skip"},
		{"TZ=0", "", "latest"},
		{"@every 2562047h", "Local", "never"},
		{"0-0/0 * * * *", "../zone", "latest"},
		{"59 23 31 12 6", "Asia/Kathmandu", "latest"},
	} {
		f.Add([]byte(fmt.Sprintf(kept, c.spec, c.zone, c.missed, 60_000)), []byte(tick), "nightly", int64(now))
	}
	daily := fmt.Sprintf(kept, "@daily", "UTC", "skip", 0)
	f.Add([]byte(fmt.Sprintf(kept, "@every 1s", "", "latest", 0)), []byte(`{"v":1,"tick":"9999-12-31T23:59:59-23:59"}`), "a.b", int64(now))
	f.Add([]byte(fmt.Sprintf(kept, "@every 1s", "", "latest", int64(1)<<62)), []byte(`{"v":1,"tick":"0000-01-01T00:00:00+23:59"}`), "", int64(0))
	f.Add([]byte(strings.Replace(daily, `"v":1`, `"v":2`, 1)), []byte(nil), strings.Repeat("n", 300), int64(now))
	f.Add([]byte(strings.Replace(daily, `"attempts":5`, `"attempts":0`, 1)), []byte(`{}`), "n", int64(now))
	f.Add([]byte(strings.Replace(daily, `"input"`, `"meta":{"a":"b"},"input"`, 1)), []byte(tick), "n", int64(1)<<33)
	f.Add([]byte(`{}`), []byte(`null`), "n", int64(now))
	const most = record.Headroom + 1<<10
	f.Fuzz(func(t *testing.T, value, tick []byte, name string, stored int64) {
		e := &natskv.Entry{Value: value, Time: time.Unix(stored&(1<<33-1), 0).UTC()} // up to the year 2242
		last, _ := record.DecodeTick(tick)
		var d record.Definition
		var p record.Policy
		var err error
		var listed Recurrence
		if limit := 1<<20 + 128*uint64(len(value)+len(name)); heap.Took(limit, func() {
			if d, err = record.ReadDefinition(name, e, most); err == nil {
				p, err = record.ReadPolicy(d.TaskHeader)
			}
			listed = storedRecurrence(name, e, last, most)
		}) > limit {
			t.Errorf("more than %d bytes for a record of %d", limit, len(value))
		}
		if (err == nil) != (listed.Err == nil) {
			t.Fatalf("%s: %v, and who lists it reads %q", value, err, listed.Err)
		}
		if _, err := json.Marshal([]time.Time{listed.Last, listed.Next}); err != nil {
			t.Fatalf("%s, %s: what is listed: %v", value, tick, err)
		}
		if err != nil {
			return
		}
		r := d.With(name, p.Shared())
		header := 0
		for _, field := range r.Body.(*record.Recurring).Header {
			header += len(field.Value)
		}
		if r.Window < 0 || r.Window > record.MaxDuration || len(d.Input) > most-record.Headroom ||
			header > 2*record.MaxPolicy+2*record.MaxMeta {
			t.Fatalf("%s: %+v", value, d)
		}
		for _, from := range []time.Time{e.Time, last.Tick, listed.Next} {
			for range 3 {
				next := r.Schedule.Next(from)
				if next.IsZero() { // a leap day may be eight years away
					break
				}
				if !next.After(from) || next.Nanosecond() != 0 {
					t.Fatalf("%s: %v follows %v", value, next, from)
				}
				if id := record.TickID(name, next); next.Year() < 9999 && next.Year() > 0 && !naming.Valid(id) {
					t.Fatalf("%s: the task of %v would be %q", value, next, id)
				}
				from = next
			}
		}
		if !listed.Next.IsZero() && (!listed.Next.After(d.Start(e.Time)) || !listed.Next.After(listed.Last)) {
			t.Fatalf("%s: stored at %v, last at %v, next at %v", value, e.Time, last, listed.Next)
		}
	})
}
