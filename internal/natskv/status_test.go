package natskv

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// TestRecordWithAStatusIsARecord: anybody who may write a record may store it with a header that
// the server uses for messages other than deliveries. Such a record is read like any other. A
// reader that took it for the server's message would lose the watch, and every later watch while
// the record exists.
func TestRecordWithAStatusIsARecord(t *testing.T) {
	_, nc, _ := newBucket(t)
	s := newStream(t, nc)
	for _, key := range []string{"a", "b", "c"} {
		m := nats.NewMsg("s." + key)
		if key == "b" {
			m.Header.Set("Status", "503")
			m.Header.Set(headerLastDelivery, "7")
			m.Header.Set(headerStalled, "s.d")
		}
		if _, err := nc.RequestMsgWithContext(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	w, err := s.Watch(t.Context(), nc, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := keys(snapshot(t, w)); got != "a b c" {
		t.Errorf("the watch has %s", got)
	}
	if entries, more, err := s.Scan(t.Context(), nc, Scan{Filter: ">", Limit: 10}); err != nil || more ||
		keys(entries) != "a b c" {
		t.Errorf("the scan has %s, %v, %v", keys(entries), more, err)
	}
	if e, err := s.Get(t.Context(), nc, "b"); err != nil || e.Header.Get("Status") != "503" {
		t.Errorf("%+v, %v", e, err)
	}
}
