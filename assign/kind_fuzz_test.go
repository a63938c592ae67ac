package assign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// order is an input of the kind that programs have.
type order struct {
	ID    string            `json:"id"`
	Lines []int64           `json:"lines,omitempty"`
	Due   time.Time         `json:"due"`
	Share float64           `json:"share"`
	Notes map[string]string `json:"notes,omitempty"`
	Next  *order            `json:"next,omitempty"`
}

// FuzzValue: bytes are taken as they are, whatever comes as an input or an output. Any other value
// is read as its kind says, or refused with the name of its kind. A value that was read means the
// same when it is encoded again.
func FuzzValue(f *testing.F) {
	for _, text := range []string{
		`{"id":"7","lines":[1,-2],"due":"2026-03-28T10:07:03.5Z","share":0.25,"notes":{"a":"b"},"next":{"id":"8"}}`, `{"due":"yesterday"}`, `{"lines":[9223372036854775808]}`,
		`{"next":{"next":{"next":{}}}}`, `{"share":1e999}`, `"a word"`, "\"\xff\"", `7`, `-0`, `true`, `null`, `[]`, `{}`, `{`, ``, `{} {}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if raw, err := decode[[]byte](data); err != nil || !bytes.Equal(raw, data) {
			t.Fatalf("%q is read as %q, %v", data, raw, err)
		}
		reread[order](t, data)
		reread[string](t, data)
		reread[int64](t, data)
		reread[map[string]bool](t, data)
		reread[json.RawMessage](t, data)
	})
}

func reread[T any](t *testing.T, data []byte) {
	t.Helper()
	var v T
	var err error
	heap.Bounded(t, len(data), func() { v, err = decode[T](data) })
	if err != nil {
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("decode %T: ", v)) {
			t.Fatalf("%q: %v", data, err)
		}
		return
	}
	written, err := encode(v)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	again, err := decode[T](written)
	if err != nil {
		t.Fatalf("%q is read as %+v, and that is refused: %v", data, v, err)
	}
	if rewritten, err := encode(again); err != nil || !bytes.Equal(rewritten, written) {
		t.Fatalf("%q is read as %q, and that as %q, %v", data, written, rewritten, err)
	}
}
