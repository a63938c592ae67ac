package natskv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzDelivery: a message with any subject and any header comes among the deliveries of a watch.
// The watch delivers records under the prefix, by increasing revision, and completes its snapshot
// once; otherwise the watch is lost. A record that comes in its turn is delivered, with any header
// and from any writer.
func FuzzDelivery(f *testing.F) {
	const header = "NATS/1.0%s\r\n%s\r\n"
	ack := func(stream, consumer, pending uint64) string {
		return fmt.Sprintf("$JS.ACK.S.c.1.%d.%d.1774692423000000000.%d", stream, consumer, pending)
	}
	for _, c := range []struct{ subject, reply, header string }{
		{"s.a", ack(8, 2, 1), ""},
		{"s.a", ack(8, 2, 0), fmt.Sprintf(header, "", "KV-Operation: DEL\r\n")},
		{"s.a", ack(8, 2, 1), fmt.Sprintf(header, "", "Status: 100\r\nNats-Last-Consumer: 9\r\n")},
		{"s.a", ack(8, 3, 1), ""},
		{"s.a", ack(7, 2, 1), ""},
		{"_INBOX.x", "", fmt.Sprintf(header, " 100 Idle Heartbeat", "Nats-Last-Consumer: 1\r\nNats-Last-Stream: 7\r\n")},
		{"_INBOX.x", "", fmt.Sprintf(header, " 100 Idle Heartbeat",
			"Nats-Last-Consumer: 1\r\nNats-Consumer-Stalled: $JS.FC.x\r\n")},
		{"_INBOX.x", "$JS.FC.S.c.1", fmt.Sprintf(header, " 100 FlowControl Request", "")},
		{"_INBOX.x", "", fmt.Sprintf(header, " 409 Consumer Deleted", "")},
		{"_INBOX.x", "", fmt.Sprintf(header, " 503", "")},
		{"s.", ack(8, 2, 1), ""},
		{"s.a", "$JS.ACK.d.h.S.c.1.8.2.-1.0.x", ""},
		{"", "", ""},
	} {
		f.Add(c.subject, c.reply, []byte(c.header), []byte("value"))
	}
	sub := &nats.Subscription{}
	f.Fuzz(func(t *testing.T, subject, reply string, header, value []byte) {
		m := &nats.Msg{Subject: subject, Reply: reply, Data: value, Sub: sub}
		if len(header) > 0 {
			var err error
			if m.Header, err = nats.DecodeHeadersMsg(header); err != nil {
				return // the client drops it
			}
		}
		w := &Watch{out: make(chan Update, 8), replies: mailbox.New[string]()}
		defer w.replies.Close()
		d := delivery{w: w, alive: t.Context(), prefix: "s."}
		var err error
		if most := mayAllocate(len(subject) + len(reply) + len(header) + len(value)); heap.Took(most, func() {
			w.out, d = make(chan Update, 8), delivery{w: w, alive: t.Context(), prefix: "s."}
			_, err = d.take([]*nats.Msg{
				{Subject: "s.first", Reply: ack(7, 1, 2), Sub: sub}, m, m, {
					Subject: "s.last", Reply: ack(1<<62, d.number+3, 0),
					Sub: sub,
				},
			})
		}) > most {
			t.Errorf("more than %d bytes", most)
		}
		if err != nil && !errors.Is(err, ErrWatchLost) {
			t.Fatalf("%q %q %q: %v", subject, reply, header, err)
		}
		close(w.out)
		last, snapshots, told := uint64(0), 0, 0
		for u := range w.out {
			for _, e := range u.Entries {
				if e.Key == "" || e.Revision <= last {
					t.Fatalf("%q %q %q: %+v follows %d", subject, reply, header, e, last)
				}
				last = e.Revision
				told++
			}
			if u.Snapshot {
				snapshots++
			}
		}
		if told == 0 || snapshots > 1 {
			t.Fatalf("%q %q %q: %d records, %d snapshots", subject, reply, header, told, snapshots)
		}
		inTurn := strings.HasPrefix(subject, "s.") && subject != "s." && reply == ack(8, 2, 1)
		if inTurn && told < 2 {
			t.Fatalf("%q %q %q: the record was not told: %v", subject, reply, header, err)
		}
	})
}

// FuzzStored: the server gives any answer to a request for a record. If the answer is taken for a
// record, that record is under the prefix and has a revision. Only the server's own answer means
// that there is none.
func FuzzStored(f *testing.F) {
	for _, text := range []string{
		`{"message":{"subject":"s.a","seq":7,"hdrs":"TkFUUy8xLjANCkg6IHgNCg0K","data":"dmFsdWU=","time":"2026-03-28T10:07:03.5Z"}}`,
		`{"message":{"subject":"s.a","seq":7}}`, `{"message":{"subject":"s.a"}}`, `{"message":{"subject":"other.a","seq":7}}`, `{"message":{"subject":"s.","seq":7}}`,
		`{"message":{"subject":"s.a","seq":7,"hdrs":"TkFUUy8x"}}`, `{"error":{"code":404,"err_code":10037,"description":"no message found"}}`,
		`{"error":{"code":404,"err_code":10059}}`, `{"error":{}}`, `{}`, `null`, ``,
	} {
		f.Add([]byte(text))
	}
	at := place{stream: "S", prefix: "s."}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Entry
		var err error
		if most := mayAllocate(len(data)); heap.Took(most, func() { e, err = at.record(data) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(data))
		}
		var a messageAnswer
		if decoded := json.Unmarshal(data,
			&a); errors.Is(err, ErrRecordNotFound) !=
			(decoded == nil && a.Error != nil && a.Error.ErrorCode == codeMessageNotFound) {
			t.Fatalf("%s: %v", data, err)
		}
		if err == nil && (a.Error != nil || e.Key == "" || at.prefix+e.Key != a.Message.Subject || e.Revision == 0 ||
			e.Revision != a.Message.Seq || len(e.Value) > len(data)) {
			t.Fatalf("%s: %+v", data, e)
		}
		if until := e.KeptUntil(); !until.IsZero() && !until.After(e.Time) {
			t.Fatalf("%s: kept until %v", data, until)
		}
		if err != nil && (e.Key != "" || e.Revision != 0) {
			t.Fatalf("%s: %+v, %v", data, e, err)
		}
	})
}

// FuzzStreamInfo: the server gives any description of a stream and of itself. Each fault is told by
// itself, the configuration that a repair writes passes that rule, and the longest TTL is positive.
func FuzzStreamInfo(f *testing.F) {
	for _, text := range []string{
		`{"config":{"name":"KV_b","subjects":["$KV.b.>"],"max_msgs_per_subject":1,"max_age":0,"discard":"new","allow_rollup_hdrs":true,"deny_delete":true,"allow_msg_ttl":true,"metadata":{"rolemanager.max_ttl_ms":"60000"}},"state":{"last_seq":1099511627776}}`,
		`{"config":{"metadata":{"rolemanager.max_ttl_ms":"9223372036854775807"},"max_age":-1,"retention":"workqueue"}}`, `{"config":{"metadata":null,"num_replicas":3},"cluster":{"leader":"a","replicas":[{"lag":1}]}}`,
		`{"error":{"err_code":10059}}`, `{}`, `null`, ``,
	} {
		f.Add([]byte(text), "2.12.0")
	}
	f.Add([]byte(`{}`), "2.9")
	f.Add([]byte(`{}`), "-1.99999999999999999999")
	f.Add([]byte(`{"config":{"metadata":{"`+metaMaxTTL+`":"60000","`+metaFormat+`":"1"}}}`), "")
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		var a streamAnswer
		var err error
		var found []string
		if most := mayAllocate(len(data) + len(version)); heap.Took(most, func() {
			if a = (streamAnswer{}); json.Unmarshal(data, &a) == nil {
				found = faults(bucketPlace("b", Reach{}), &a.StreamInfo, version)
			} else {
				err = errors.New("unreadable")
			}
		}) > most {
			t.Errorf("more than %d bytes for %d", most, len(data))
		}
		if err != nil {
			return
		}
		for _, fault := range found {
			if fault == "" {
				t.Fatalf("%s %q: %q", data, version, found)
			}
		}
		if d := longestTTL(&a.StreamInfo); d <= 0 {
			t.Fatalf("%s: the longest TTL is %v", data, d)
		}
		for _, r := range rules {
			if r.fit("b", &a.StreamInfo) || r.repair == nil {
				continue
			}
			key, value := r.repair(&a.StreamInfo)
			config, err := json.Marshal(map[string]any{"config": map[string]any{key: value}})
			if err != nil {
				t.Fatalf("%s: %s: %v", data, key, err)
			}
			fixed := a
			if err := json.Unmarshal(config, &fixed); err != nil || !r.fit("b", &fixed.StreamInfo) {
				t.Fatalf("%s: %s does not repair %q: %v", data, config, r.fault, err)
			}
		}
	})
}

// FuzzDenied: the server makes any complaint. A missing permission is reported with the subject
// that the complaint names.
func FuzzDenied(f *testing.F) {
	for _, text := range []string{
		`Permissions Violation for Publish to "$KV.b.c.role.r"`, `permissions violation for subscription to "a b"`, `Permissions Violation for Subscription to "_INBOX.>" using queue "q"`,
		`Permissions Violation for Publish to ""`, `Authorization Violation`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d *PermissionError
		most := mayAllocate(len(text))
		if heap.Took(most, func() { d = Denied(fmt.Errorf("%w: %s", nats.ErrPermissionViolation, text)) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(text))
		}
		if d != nil && (d.Subject == "" || !strings.Contains(text, `"`+d.Subject+`"`) || !Permanent(d)) {
			t.Fatalf("%q: %+v", text, d)
		}
		if Denied(errors.New(text)) != nil {
			t.Fatalf("%q: told of another error", text)
		}
	})
}
