package natskv

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzReply: any message comes where acknowledgements are awaited. At most the write whose number
// is in the subject ends, once, and with the outcome that the message gives. A write for which
// nobody listens continues to wait.
func FuzzReply(f *testing.F) {
	for _, subject := range []string{
		"in.7", "in.8", "in.07", "in.", "in", "7", "in.-7", "in.+7", "in.zzzzzzzzzzzzzzz",
		"in.7.7", "",
	} {
		f.Add(subject, []byte(`{"stream":"S","seq":9}`), "")
		f.Add(subject, []byte(`{"error":{"code":400,"err_code":10071}}`), "200")
		f.Add(subject, []byte(nil), "503")
		f.Add(subject, []byte("x"), "503")
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte, status string) {
		var w *Writer
		ended := map[uint64][]Result{}
		m := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{"Status": {status}}}
		if most := mayAllocate(len(subject) + len(data) + len(status)); heap.Took(most, func() {
			clear(ended)
			w = &Writer{at: place{stream: "S"}, inbox: "in.", doubt: make(chan struct{}, 1), open: map[uint64]*pending{}}
			for number := range uint64(9) {
				p := &pending{
					number: number, done: func(r Result) { ended[number] = append(ended[number], r) },
					slot: slot{at: time.Unix(int64(number), 0)},
				}
				w.open[number] = p
				w.due.add(p)
			}
			w.reply(m)
			w.reply(m)
		}) > most {
			t.Errorf("more than %d bytes for %d", most, len(data))
		}
		if len(w.open)+len(ended) != 9 || len(w.due.rows) != len(w.open) || len(ended) > 1 ||
			len(ended) > 0 && IsNoResponders(m) {
			t.Fatalf("%q %q %q: %d are open, and ended have %v", subject, status, data, len(w.open), ended)
		}
		for number, results := range ended {
			if want := outcome(w.at, data); len(results) != 1 || results[0].Outcome != want.Outcome ||
				results[0].Revision != want.Revision {
				t.Fatalf("%q %q: %v", subject, data, results)
			}
			if n, err := strconv.ParseUint(subject[max(0, len(subject)-len(strconv.FormatUint(number, 36))):], 36,
				64); err != nil || n != number {
				t.Fatalf("%q ends %d", subject, number)
			}
		}
	})
}

// FuzzAPI: any answer to a question to the JetStream API comes over a connection. The result is
// either what can be decoded and names no error, or the error that the answer names.
func FuzzAPI(f *testing.F) {
	for _, text := range []string{
		`{"config":{"name":"KV_b","max_age":1},"state":{"last_seq":7,"subjects":{"s.a":1}}}`, `{"num_pending":7,"name":"c","config":{"ack_policy":"none"}}`, `{"num_pending":-1}`,
		`{"error":{"code":404,"err_code":10059}}`, `{"error":{"err_code":10039,"description":"off"}}`, `{"error":{"code":"x"}}`, `{"error":{}}`, `{"error":null}`, `{}`, `null`, `[]`, `{`, `+OK`,
	} {
		f.Add([]byte(text))
	}
	s := natstest.Server(f)
	nc, api := natstest.Connect(f, s), natstest.Connect(f, s)
	var said []byte
	if _, err := api.Subscribe("api", func(m *nats.Msg) { _ = m.Respond(said) }); err != nil {
		f.Fatal(err)
	}
	if err := api.Flush(); err != nil {
		f.Fatal(err)
	}
	at := place{stream: "S", prefix: "s."}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 || len(data) == 0 {
			return // it is not sent, or nobody listens
		}
		said = data
		for _, into := range []answer{&streamAnswer{}, &consumerAnswer{}} {
			var err error
			most := 2*mayAllocate(len(data)) + 1<<20
			if heap.Took(most, func() { err = request(t.Context(), nc, at, "api", map[string]int{}, into) }) > most {
				t.Errorf("more than %d bytes for %d", most, len(data))
			}
			var named struct {
				Error *jetstream.APIError `json:"error"`
			}
			decoded := json.Unmarshal(data, into)
			_ = json.Unmarshal(data, &named)
			switch {
			case (err == nil) != (decoded == nil && into.fault() == nil):
				t.Fatalf("%q: %v, and decoded %v", data, err, decoded)
			case decoded == nil && named.Error != nil && named.Error.ErrorCode == codeStreamNotFound &&
				!errors.As(err, new(*NotFoundError)):
				t.Fatalf("%q: %v", data, err)
			}
		}
	})
}
