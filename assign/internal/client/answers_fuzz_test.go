package client

import (
	"encoding/json"
	"testing"

	"github.com/rolemanager/rolemanager/assign/internal/control"
)

// FuzzTold: whatever a scheduler says about a task, the client's status stays that task's, and can
// be encoded.
func FuzzTold(f *testing.F) {
	for _, text := range []string{
		`{"id":"t","state":"running","worker":"w","attempts":1,"progress":0.123456}`, `{"id":"t","progress":1e308}`,
		`{"id":"t","state":"pending","due":"2026-03-28T10:07:03Z","progress":-1e300}`, `{}`, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var told control.Task
		if json.Unmarshal(data, &told) != nil {
			return
		}
		st := Status{Task: control.Task{ID: "t", Kind: "k"}}
		if st.look(&told); !(st.Progress >= 0 && st.Progress <= 1) || st.ID != "t" || st.Kind != "k" {
			t.Fatalf("%s: %+v", data, st)
		}
		if _, err := json.Marshal(st.Task); err != nil {
			t.Fatalf("%s: %+v: %v", data, st, err)
		}
	})
}
