package natskv

import (
	"testing"
	"time"
)

// TestARecordSaysWhatItWasWrittenOver: if that was its condition, also in a batch. The server keeps
// the condition with the record.
func TestARecordSaysWhatItWasWrittenOver(t *testing.T) {
	_, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	first := mustWin(t, wr, Write{Key: "over"})
	second := mustWin(t, wr, Write{Key: "over", Expect: first})
	mustWin(t, wr, Write{Key: "new"})
	mustWin(t, wr, Write{Key: "guarded", Guard: &Guard{Key: "over", Revision: second}})
	done := make(chan Result, 1)
	wr.SubmitEach([]Write{
		{Key: "batched", Guard: &Guard{Key: "over", Revision: second}},
		{Key: "new", Expect: second + 1},
	}, 5*time.Second, func(r Result) { done <- r })
	if r := <-done; r.Outcome != Won {
		t.Fatalf("%+v", r)
	}
	want := map[string]uint64{"over": first, "guarded": 0, "batched": 0, "new": second + 1}
	all := snapshot(t, newWatch(t, nc, b, ">"))
	if len(all) != len(want) {
		t.Fatalf("%+v", all)
	}
	for _, e := range all {
		if over := e.WrittenOver(); over != want[e.Key] {
			t.Errorf("%s: over %d, want %d", e.Key, over, want[e.Key])
		}
	}
}
