package inventory

import (
	"encoding/json"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzSeal: only a seal that this version writes is taken for one, and it means the same when it is
// written again.
func FuzzSeal(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"epoch":7,"holder":"a","mark":"m","clean":true,"since":5}`, `{"v":2,"epoch":7,"holder":"a"}`, `{"epoch":7}`, `{"v":1,"epoch":-1}`,
		`{"v":1,"epoch":18446744073709551616}`, `{"v":1}`, "{\"v\":1,\"holder\":\"\xff\"}", `{"v":"1"}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s seal
		heap.Bounded(t, len(data), func() { s = readSeal(data) })
		if s != (seal{}) && s.Version != 1 {
			t.Fatalf("%q is read as %+v", data, s)
		}
		written, err := json.Marshal(s)
		if err != nil || s.Version == 1 && readSeal(written) != s {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", data, s, readSeal(written), err)
		}
		var v struct {
			V json.Number `json:"v"`
		}
		if ours := json.Unmarshal(data, &v) == nil && v.V == "1"; !ours && s.Version != 0 {
			t.Fatalf("%q is of another version, and read as %+v", data, s)
		}
	})
}
