package tasks

import (
	"encoding/json"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzHold: only a hold of this version is taken for one, and it means the same when it is written
// again.
func FuzzHold(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"by":"ops","reason":"disk full"}`, `{"v":1}`, `{"v":1,"reason":"two\nlines \u001b[31m"}`, "{\"v\":1,\"reason\":\"\xff\"}",
		`{"v":2,"reason":"a"}`, `{"reason":"a"}`, `{"v":"1"}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var reason string
		var holds bool
		heap.Bounded(t, len(data), func() { reason, holds = readHold(data) })
		if !holds && reason != "" {
			t.Fatalf("%q is read as %v %q", data, holds, reason)
		}
		written, err := json.Marshal(map[string]any{"v": 1, "reason": reason})
		if err != nil {
			t.Fatal(err)
		}
		if again, still := readHold(written); holds && (!still || again != reason) {
			t.Fatalf("%q is read as %q, and that as %v %q", data, reason, still, again)
		}
		var v struct {
			V json.Number `json:"v"`
		}
		if ours := json.Unmarshal(data, &v) == nil && v.V == "1"; !ours && holds {
			t.Fatalf("%q is of another version, and read as %v", data, holds)
		}
	})
}
