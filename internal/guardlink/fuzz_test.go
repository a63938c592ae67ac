package guardlink

import (
	"bytes"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// FuzzMessage: what is read is written as the same message, and takes memory in proportion.
func FuzzMessage(f *testing.F) {
	for _, m := range []Message{
		{Place: Place{Bucket: "roles"}, Word: ending.Word{Key: "c.lease.a", Nonce: "n"}},
		{
			Place: Place{Bucket: "roles", ID: "x", Domain: "hub", Prefix: "JS.hub.API"},
			Word: ending.Word{
				Key: "w.lease.a", Nonce: "n", Revision: 1<<64 - 1,
				Lease: record.Lease{V: 1, Session: 7, Nonce: "n", TTLms: 2000, Beat: 3, State: record.Idle},
			},
		},
		{Place: Place{Bucket: "roles"}, Word: ending.Word{Key: "c.lease.a", Nonce: "n", Closed: true}},
	} {
		b, err := m.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, text := range []string{"", "{}", "null", `{"v":2,"bucket":"b"}`, `{"v":1,"bucket":"b","word":{"key":"\xff"}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		var err error
		heap.Bounded(t, len(b), func() { m, err = Decode(b) })
		if err != nil {
			return
		}
		once, err := m.Encode()
		if err != nil {
			return // too large
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("%s is read as %+v, and that not at all: %v", b, m, err)
		}
		if twice, _ := again.Encode(); !bytes.Equal(once, twice) {
			t.Fatalf("%s and then %s", once, twice)
		}
	})
}
