package election

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// FuzzAnswer: for any answer to a control request, the request counts as done only if the answer
// says so of that request and says nothing against it. A refusal says why. An answer that was read
// means the same when it is written again.
func FuzzAnswer(f *testing.F) {
	const id = "0197-a"
	for _, r := range []protocol.Response{
		{ID: id, OK: true},
		{ID: id, OK: true, Successor: "b"},
		{ID: id, Error: protocol.ErrWrongEpoch.Error()},
		{ID: id, Error: protocol.ErrNotLeader.Error()},
		{Error: "not a control request"},
		{ID: "0197-b", OK: true},
		{ID: "0197-b", Error: "x"},
		{OK: true},
		{ID: id},
		{ID: id, OK: true, Error: "x"},
		{},
	} {
		data, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{``, `null`, `[]`, `{"id":"0197-a","ok":1}`, `{"ID":"0197-a","OK":true}`, `{"id":"0197-a","ok":true,"ok":false}`, `{"id":"0197-a","ok":true}{}`, `{"id":"0197-a","error":"` + "\xff" + `"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r protocol.Response
		var err error
		heap.Bounded(t, min(len(data), maxRequest), func() { r, err = readResponse(data, id) })
		if err != nil {
			if !errors.Is(err, errNoAnswer) || r != (protocol.Response{}) || len(err.Error()) > maxRequest+1000 {
				t.Fatalf("%.5000q: %+v, %v", data, r, err)
			}
			return
		}
		if len(data) > maxRequest || r.OK && (r.ID != id || r.Error != "") ||
			!r.OK && (r.Error == "" || r.ID != id && r.ID != "") {
			t.Fatalf("%q is read as %+v", data, r)
		}
		if !r.OK && named(r.Error) == nil {
			t.Fatalf("%q is refused, and nothing says why", data)
		}
		written, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readResponse(written, id); len(written) <= maxRequest && (err != nil || again != r) {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, r, again, err)
		}
	})
}
