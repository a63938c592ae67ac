package ahead

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestRoomIsBounded: inputs take no more memory than there is room for, and one that does not fit
// is not kept, whatever was there before.
func TestRoomIsBounded(t *testing.T) {
	const size, fits = 1000, 10
	r := NewRoom(fits * (size + keptCost + 10))
	for i := range 2 * fits {
		r.Keep(fmt.Sprint(i), 1, Input{Data: make([]byte, size)})
	}
	if len(r.kept) != fits || r.bytes != fits*(size+keptCost+10) {
		t.Fatalf("%d are kept, of %d bytes", len(r.kept), r.bytes)
	}
	r.Keep("0", 2, Input{Data: make([]byte, 2*size)}) // submitted again, and larger
	for revision := range uint64(3) {
		if _, ok := r.Take("0", revision); ok {
			t.Errorf("an input of revision %d", revision)
		}
	}
	r.Keep("late", 1, Input{})
	if _, ok := r.Take("late", 1); !ok {
		t.Error("there is room, and it is not kept")
	}
}

// TestRoomGivesTheInputOfTheSubmission: whatever is kept, taken and dropped, an input is given
// once, as it was, to its submission alone; and a room that is empty has no bytes.
func TestRoomGivesTheInputOfTheSubmission(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRoom(1 << 30)
		type submission struct {
			revision uint64
			input    string
		}
		there := map[string]submission{}
		revision := uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			task := rapid.SampledFrom([]string{"", "a", "b", "ab"}).Draw(t, "task")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				revision++
				x := Input{
					Data:  []byte(rapid.StringN(0, 300, 300).Draw(t, "data")),
					Trace: rapid.StringN(0, 200, 200).Draw(t, "trace"), Meta: rapid.StringN(0, 9, 9).Draw(t, "meta"),
				}
				r.Keep(task, revision, x)
				there[task] = submission{revision, fmt.Sprintf("%q", x)}
			case 2:
				r.Drop(task)
				delete(there, task)
			case 3:
				asked := rapid.Uint64Range(max(revision, 2)-2, revision).Draw(t, "revision")
				x, ok := r.Take(task, asked)
				s, is := there[task]
				if is = is && s.revision == asked; ok != is || ok && fmt.Sprintf("%q", x) != s.input {
					t.Fatalf("task %q of %d: %q, %t; there are %v", task, asked, x, ok, there)
				}
				if is {
					delete(there, task)
				}
			}
		}
		for task := range there {
			r.Drop(task)
		}
		if r.bytes != 0 || len(r.kept) != 0 {
			t.Fatalf("%d bytes of %d inputs", r.bytes, len(r.kept))
		}
	})
}
