package inventory

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAnswered: an error in an answer of the JetStream API is returned as it is, and nothing else
// is taken from that answer. A record is the requested one, and means the same when it is written
// again.
func FuzzAnswered(f *testing.F) {
	for _, text := range []string{
		`{"message":{"subject":"$KV.TASKS_jobs.seal","seq":7,"data":"eyJ2IjoxLCJlcG9jaCI6NywiaG9sZGVyIjoiYSJ9","time":"2026-03-28T10:07:03.5Z"}}`,
		`{"message":{"subject":"$KV.TASKS_jobs.seal","seq":7,"time":"2026-03-28T10:07:03.5Z"}}`, `{"message":{"subject":"$KV.TASKS_jobs.seal","seq":7,"data":"AA=="}}`, `{"message":{"subject":"$KV.TASKS_other.seal","data":"AA==","time":"2026-03-28T10:07:03.5Z"}}`,
		`{"message":{"subject":"$KV.TASKS_jobs.seal","data":"no base64"}}`, `{"message":{"subject":"$KV.TASKS_jobs.seal","time":"yesterday"}}`, `{"message":[]}`,
		`{"error":{"code":404,"err_code":10037,"description":"no message found"}}`, `{"error":{"code":404,"err_code":10059},"message":{"subject":"$KV.TASKS_jobs.seal"}}`, `{"error":{}}`, `{"error":1}`, `{"error":null}`,
		`{"type":"io.nats.jetstream.api.v1.stream_names_response","total":1,"streams":["TASKS_jobs"]}`, `{"streams":[1]}`, `{"config":{"name":"TASKS_jobs","max_bytes":-1},"state":{"bytes":18446744073709551615}}`,
		`{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	const subject = "$KV.TASKS_jobs.seal"
	f.Fuzz(func(t *testing.T, data []byte) {
		var a messageAnswer
		var r StoredRecord
		var err error
		heap.Bounded(t, len(data), func() {
			a = messageAnswer{}
			if err = ReadAnswer(data, &a); err == nil {
				r, err = a.at(subject)
			}
		})
		var said struct {
			Error *jetstream.APIError `json:"error"`
		}
		told := (*jetstream.APIError)(nil)
		if named := json.Unmarshal(data, &said) == nil && said.Error != nil; errors.As(err, &told) != named ||
			named && *told != *said.Error {
			t.Fatalf("%q: %v", data, err)
		}
		var info jetstream.StreamInfo
		if also := ReadAnswer(data, &info); errors.As(also, new(*jetstream.APIError)) != (told != nil) {
			t.Fatalf("%q: %v, and of a stream %v", data, err, also)
		}
		if err != nil {
			if r.Subject != "" || r.Data != nil || told == nil && !strings.Contains(err.Error(), "answer") {
				t.Fatalf("%q: %+v, %v", data, r, err)
			}
			return
		}
		written, err := json.Marshal(messageAnswer{r})
		if err != nil {
			t.Fatalf("%q: %+v, %v", data, r, err)
		}
		var again messageAnswer
		if err := ReadAnswer(written, &again); err != nil || r.Subject != subject || again.Message.Subject != subject ||
			string(again.Message.Data) != string(r.Data) || !again.Message.Time.Equal(r.Time) || len(r.Data) > len(data) {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, r, again, err)
		}
	})
}
