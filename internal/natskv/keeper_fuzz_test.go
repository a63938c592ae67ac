package natskv

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzKeeper: an answer is read as what was written, and anything else as nothing.
func FuzzKeeper(f *testing.F) {
	f.Add(Identity{ID: "X", Domain: "hub", Cluster: "east", Created: time.Unix(1, 2).UTC()}.answer())
	for _, text := range []string{`{"id":""}`, `{"id":1}`, `{"id":"X","created":"x"}`, `{}`, `null`, `[]`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var i Identity
		heap.Bounded(t, len(data), func() { i = ReadKeeper(data) })
		if i.ID == "" {
			if i != (Identity{}) {
				t.Fatalf("%q is read as %+v", data, i)
			}
			return
		}
		if again := ReadKeeper(i.answer()); again.ID != i.ID || !again.Created.Equal(i.Created) {
			t.Fatalf("%+v, and written again %+v", i, again)
		}
	})
}
