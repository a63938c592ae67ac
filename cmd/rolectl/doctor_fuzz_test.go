package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAnswered: whatever the JetStream API answers to the doctor, an error that it names is told as the one it is, and nothing else is
// taken from that answer; a record is the one that was asked for, and means the same when it is written again.
func FuzzAnswered(f *testing.F) {
	for _, text := range []string{
		`{"message":{"subject":"jobs.seal","seq":7,"data":"eyJ2IjoxLCJlcG9jaCI6NywiaG9sZGVyIjoiYSJ9","time":"2026-03-28T10:07:03.5Z"}}`,
		`{"message":{"subject":"jobs.seal","seq":7,"time":"2026-03-28T10:07:03.5Z"}}`, `{"message":{"subject":"jobs.seal","seq":7,"data":"AA=="}}`, `{"message":{"subject":"other.seal","data":"AA==","time":"2026-03-28T10:07:03.5Z"}}`,
		`{"message":{"subject":"jobs.seal","data":"no base64"}}`, `{"message":{"subject":"jobs.seal","time":"yesterday"}}`, `{"message":[]}`,
		`{"error":{"code":404,"err_code":10037,"description":"no message found"}}`, `{"error":{"code":404,"err_code":10059},"message":{"subject":"jobs.seal"}}`, `{"error":{}}`, `{"error":1}`, `{"error":null}`,
		`{"type":"io.nats.jetstream.api.v1.stream_names_response","total":1,"streams":["TASKS_jobs"]}`, `{"streams":[1]}`, `{"config":{"name":"TASKS_jobs","max_bytes":-1},"state":{"bytes":18446744073709551615}}`,
		`{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	const subject = "jobs.seal"
	f.Fuzz(func(t *testing.T, data []byte) {
		var a messageAnswer
		var r stored
		var err error
		heap.Bounded(t, len(data), func() {
			a = messageAnswer{}
			if err = readAnswer(data, &a); err == nil {
				r, err = a.at(subject)
			}
		})
		var said struct {
			Error *jetstream.APIError `json:"error"`
		}
		told := (*jetstream.APIError)(nil)
		if named := json.Unmarshal(data, &said) == nil && said.Error != nil; errors.As(err, &told) != named || named && *told != *said.Error {
			t.Fatalf("%q: %v", data, err)
		}
		var info jetstream.StreamInfo
		if also := readAnswer(data, &info); errors.As(also, new(*jetstream.APIError)) != (told != nil) {
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
		if err := readAnswer(written, &again); err != nil || r.Subject != subject || again.Message.Subject != subject ||
			string(again.Message.Data) != string(r.Data) || !again.Message.Time.Equal(r.Time) || len(r.Data) > len(data) {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, r, again, err)
		}
	})
}

// FuzzAccount: whatever the server answers about the account, the doctor says at most once of each limit that it is nearly reached,
// and of what it cannot read that it cannot; it is never silent.
func FuzzAccount(f *testing.F) {
	for _, text := range []string{
		`{"memory":0,"storage":90,"streams":1,"consumers":9,"limits":{"max_memory":-1,"max_storage":100,"max_streams":-1,"max_consumers":10}}`,
		`{"storage":18446744073709551615,"limits":{"max_storage":1}}`, `{"streams":-1,"limits":{"max_streams":1}}`,
		`{"tiers":{"R1":{"storage":99,"limits":{"max_storage":100}},"R3":{"memory":1,"limits":{"max_memory":1}}}}`, `{"tiers":{"":{"storage":99}}}`,
		`{"error":{"code":503,"err_code":10039,"description":"JetStream not enabled for account"}}`, `{"limits":[]}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var x *examination
		heap.Bounded(t, len(data), func() {
			x = &examination{}
			x.account(data)
		})
		var a jetstream.AccountInfo
		read := readAnswer(data, &a) == nil
		if len(x.findings) == 0 || len(x.findings) > 4*(1+len(a.Tiers)) || !read && len(x.findings) != 1 {
			t.Fatalf("%q: %+v", data, x.findings)
		}
		said := map[string]bool{}
		for _, f := range x.findings {
			if read && f.Level == unknown || !read && f.Level == healthy || said[f.Message] {
				t.Fatalf("%q: %+v", data, x.findings)
			}
			said[f.Message] = true
		}
	})
}

// FuzzTold: whatever stands at a seal, or where a kind is paused or a worker drained, only what this version writes is taken for it, and
// means the same when it is written again.
func FuzzTold(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"epoch":7,"holder":"a","mark":"m","clean":true,"since":5}`, `{"v":2,"epoch":7,"holder":"a"}`, `{"epoch":7}`, `{"v":1,"epoch":-1}`, `{"v":1,"epoch":18446744073709551616}`,
		`{"v":1,"by":"ops","reason":"disk full"}`, `{"v":1}`, `{"v":1,"reason":"two\nlines \u001b[31m"}`, "{\"v\":1,\"holder\":\"\xff\",\"reason\":\"\xff\"}", `{"v":"1"}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s seal
		var reason string
		var holds bool
		heap.Bounded(t, len(data), func() {
			s = readSeal(data)
			reason, holds = readSteer(data)
		})
		if s != (seal{}) && s.Version != 1 || !holds && reason != "" {
			t.Fatalf("%q is read as %+v, %v %q", data, s, holds, reason)
		}
		written, err := json.Marshal(s)
		if err != nil || s.Version == 1 && readSeal(written) != s {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, s, readSeal(written), err)
		}
		if written, err = json.Marshal(map[string]any{"v": 1, "reason": reason}); err != nil {
			t.Fatal(err)
		}
		if again, still := readSteer(written); holds && (!still || again != reason) {
			t.Fatalf("%q is read as %q, and that as %v %q", data, reason, still, again)
		}
		var v struct {
			V json.Number `json:"v"`
		}
		if ours := json.Unmarshal(data, &v) == nil && v.V == "1"; !ours && (holds || s.Version != 0) {
			t.Fatalf("%q is of another version, and read as %+v, %v", data, s, holds)
		}
	})
}

// FuzzOlder: whatever a server says of its version, it is older than another exactly if it says so in numbers, whatever follows; what
// is no version is not, and what is older than one version is older than all after it.
func FuzzOlder(f *testing.F) {
	for _, v := range []string{"2.12.0", "2.11.9-RC.1", "2.9", "2.14.4+x", "v2.1.0", "", "2", ".", "2.", "-1.9.9", "+2.+1", " 2.1", "2.99999999999999999999.1", "2.14.x"} {
		f.Add(v, uint16(2), uint16(14), uint16(4), "-beta")
	}
	f.Add("", uint16(2), uint16(14), uint16(3), "")
	f.Add("", uint16(2), uint16(11), uint16(65535), ".1")
	f.Fuzz(func(t *testing.T, text string, major, minor, patch uint16, rest string) {
		var before bool
		heap.Bounded(t, len(text), func() { before = older(text, 2, 12, 0) })
		if before && (!strings.Contains(text, ".") || !older(text, 2, 14, 4) || !older(text, 3, 0, 0)) {
			t.Fatalf("%q is older than 2.12", text)
		}
		if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_') { // that would be another number
			return
		}
		if short := fmt.Sprint(major, ".", minor); older(short, 2, 12, 0) != (major < 2 || major == 2 && minor < 12) {
			t.Fatalf("%q is older than 2.12: %v", short, older(short, 2, 12, 0))
		}
		version := fmt.Sprint(major, ".", minor, ".", patch, rest)
		said := []int{int(major), int(minor), int(patch)}
		for _, than := range [][]int{{2, 12, 0}, {2, 14, 4}, said, {said[0], said[1], said[2] + 1}, {said[0], said[1] + 1, 0}, {said[0] + 1, 0, 0}} {
			if want := slices.Compare(said, than) < 0; older(version, than[0], than[1], than[2]) != want {
				t.Fatalf("%q is older than %v: %v, want %v", version, than, !want, want)
			}
		}
	})
}
