package client

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzSubmitterHeaders: whatever a submitter has put beside an input, the handler sees the headers
// that the status of the task shows; a cursor is read back as it was written.
func FuzzSubmitterHeaders(f *testing.F) {
	for _, text := range []string{
		`{"a":"b","c":1}`, `{"a":"b"}`, `{"A":"\ud800"}`, "open.7", "ended.18446744073709551615", "ended.", "open.-1", `null`, `[]`, `{`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit := 1<<20 + 512*uint64(len(text))
		if took := heap.Took(limit, func() { readSubmitter(t, text) }); took > limit {
			t.Errorf("%d bytes for %d", took, len(text))
		}
	})
}

func readSubmitter(t *testing.T, text string) {
	e := &natskv.Entry{Header: nats.Header{record.HeaderMeta: {text}, record.HeaderTrace: {text}}}
	st := Status{Task: control.Task{ID: "t"}}
	if err := st.submitter(e); err == nil && !maps.Equal(record.HeadersOf(text), st.Headers) ||
		err != nil && record.HeadersOf(text) != nil {
		t.Errorf("headers %q: %v, and who looks sees %v, %v", text, record.HeadersOf(text), st.Headers, err)
	}
	if page, before, err := parseBulkCursor(text); err == nil && text != "" && (before == 0 || page == "") {
		t.Errorf("bulk cursor %q: %q, %d", text, page, before)
	}
	c, err := parseCursor(text)
	if again, err2 := parseCursor(c.String()); err == nil && (err2 != nil || again != c) {
		t.Errorf("cursor %q: %v becomes %v, %v", text, c, again, err2)
	}
}

// FuzzStatusOfRecord: whatever record stands at a task's key, its status can be told on.
func FuzzStatusOfRecord(f *testing.F) {
	const submission = `{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`
	f.Add([]byte("in"), submission, "", `{"sticky":"a"}`, `{"a":"b"}`)
	f.Add([]byte("out"), "", `{"v":1,"kind":"k","status":"succeeded","epoch":100,"attempt":2,"attempts":1}`, "", "")
	f.Add([]byte("in"), submission, `{"v":1,"kind":"k","status":"dead","cause":"permanent","attempts":1}`, `{"unique":"x"}`, `{`)
	f.Fuzz(func(t *testing.T, value []byte, task, outcome, keys, meta string) {
		header := nats.Header{}
		for name, text := range map[string]string{
			record.HeaderTask: task, record.HeaderOutcome: outcome,
			record.HeaderFailure: outcome, record.HeaderKeys: keys, record.HeaderMeta: meta, record.HeaderTrace: meta,
		} {
			if text != "" {
				header[name] = []string{text}
			}
		}
		var all []Status
		heap.Bounded(t, len(value)+2*(len(task)+len(outcome)+len(keys)+len(meta)), func() {
			all = nil
			e := &natskv.Entry{
				Key: record.QueueKey + "t", Value: value, Revision: 6, Header: header,
				Time: time.Unix(1_774_692_423, 0),
			}
			if st, err := openStatus("t", e); err == nil {
				all = append(all, st)
			}
			if o, err := record.DecodeOutcome(e.Header, e.Value); err == nil && o != nil {
				all = append(all, endedStatus("t", o, e))
			}
			_ = kindOf(e)
		})
		for _, st := range all {
			if _, err := json.Marshal(st.Task); err != nil || st.ID != "t" {
				t.Fatalf("%+v: %v", st, err)
			}
		}
	})
}
