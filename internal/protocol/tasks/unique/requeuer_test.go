package unique

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// expectOf fails unless an action comes next.
func expectOf(t *testing.T, r *Requeuer, want Action) {
	t.Helper()
	if got := r.Next(); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
}

// TestTwoWrites: the outcome is the reservation of a task that is submitted again. Its key is free,
// or still that of the submission that has died, or of another try.
func TestTwoWrites(t *testing.T) {
	for _, k := range []Key{{}, {Revision: 5}, {Revision: 5, Task: "t", At: 3}, {Revision: 12, Task: "t", At: 10}} {
		r := NewRequeuer("t", 10)
		expectOf(t, &r, Action{Do: ReadKey})
		r.Key(k)
		expectOf(t, &r, Action{Do: TakeKey, Task: "t", Expect: k.Revision, At: 10})
		r.Wrote(record.Won, 13)
		expectOf(t, &r, Action{Do: Store, Task: "t", Expect: 10})
		r.Wrote(record.Won, 14)
		expectOf(t, &r, Action{Do: Stored, Task: "t"})
	}
}

// TestRequeueOfATaskThatIsThere: a record of the key that is later than the outcome proves that the
// outcome is not the last record. So does a write that is refused.
func TestRequeueOfATaskThatIsThere(t *testing.T) {
	r := NewRequeuer("t", 10)
	r.Key(Key{Revision: 16, Task: "t", At: 15})
	expectOf(t, &r, Action{Do: Pause})
	for _, won := range []int{0, 1} {
		r := NewRequeuer("t", 10)
		r.Key(Key{})
		for range won {
			r.Wrote(record.Won, 20)
		}
		r.Wrote(record.Refused, 0)
		expectOf(t, &r, Action{Do: Pause})
	}
}

// TestKeyOfATaskThatIsSubmittedAgain: its outcome is at the revision that the key tells. Another
// client writes that outcome again, and only then takes the key, for a new task or a dead one.
func TestKeyOfATaskThatIsSubmittedAgain(t *testing.T) {
	s := NewSubmitter("t", true, false)
	s.Key(Key{Revision: 8, Task: "other", At: 7})
	s.Place(Place{Revision: 7, Holds: Ended})
	expect(t, &s, Action{Do: Rewrite, Task: "other", Expect: 7})
	s.Wrote(record.Won, 20)
	expect(t, &s, Action{Do: Reserve, Task: "t"})

	r := NewRequeuer("t", 10)
	r.Key(Key{Revision: 8, Task: "other", At: 7})
	r.Place(Place{Revision: 7, Holds: Ended})
	expectOf(t, &r, Action{Do: Rewrite, Task: "other", Expect: 7})
	r.Wrote(record.Won, 20)
	expectOf(t, &r, Action{Do: TakeKey, Task: "t", Expect: 8, At: 10})
}

// TestRequeueUnderATakenKey: the open task that has the key is told.
func TestRequeueUnderATakenKey(t *testing.T) {
	r := NewRequeuer("t", 10)
	r.Key(Key{Revision: 8, Task: "other", At: 7})
	r.Place(Place{Revision: 9, Holds: Open})
	expectOf(t, &r, Action{Do: Taken, Task: "other"})
}
