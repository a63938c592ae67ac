package unique

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// expect fails unless an action comes next.
func expect(t *testing.T, s *Submitter, want Action) {
	t.Helper()
	if got := s.Next(); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
}

// TestThreeWrites: a free key costs three writes, and nothing is read.
func TestThreeWrites(t *testing.T) {
	s := NewSubmitter("t", true, true)
	expect(t, &s, Action{Do: Reserve, Task: "t"})
	s.Wrote(record.Won, 7)
	expect(t, &s, Action{Do: TakeKey, Task: "t", At: 7})
	s.Wrote(record.Won, 8)
	expect(t, &s, Action{Do: Store, Task: "t", Expect: 7})
	s.Wrote(record.Won, 9)
	expect(t, &s, Action{Do: Stored, Task: "t"})
}

// TestKeyOfAnOpenTask: it is returned, and nothing is written.
func TestKeyOfAnOpenTask(t *testing.T) {
	s := NewSubmitter("t", true, false)
	expect(t, &s, Action{Do: ReadKey})
	s.Key(Key{Revision: 8, Task: "other", At: 7})
	expect(t, &s, Action{Do: ReadPlace, Task: "other"})
	s.Place(Place{Revision: 9, Holds: Open})
	expect(t, &s, Action{Do: Taken, Task: "other"})
}

// TestKeyOfATaskThatIsNotThere: its submission is shut out, whether its place is reserved or empty,
// and only then the key is taken.
func TestKeyOfATaskThatIsNotThere(t *testing.T) {
	for _, revision := range []uint64{0, 7} {
		s := NewSubmitter("t", true, false)
		s.Key(Key{Revision: 8, Task: "other", At: 7})
		s.Place(Place{Revision: revision})
		expect(t, &s, Action{Do: Reserve, Task: "other", Expect: revision})
		s.Wrote(record.Won, 20)
		expect(t, &s, Action{Do: Reserve, Task: "t"})
		s.Wrote(record.Won, 21)
		expect(t, &s, Action{Do: TakeKey, Task: "t", Expect: 8, At: 21})
	}
}

// TestNotShutOut: if the place has moved, or nobody knows, everything is read again.
func TestNotShutOut(t *testing.T) {
	for _, o := range []record.Outcome{record.Refused, record.Unknown} {
		s := NewSubmitter("t", true, false)
		s.Key(Key{Revision: 8, Task: "other", At: 7})
		s.Place(Place{})
		s.Wrote(o, 0)
		expect(t, &s, Action{Do: Pause})
		s.Paused()
		expect(t, &s, Action{Do: ReadKey})
	}
}

// TestLateServer: what the place held before the key was taken is of an earlier life of the task.
func TestLateServer(t *testing.T) {
	for _, holds := range []Holds{Open, Other, Ended} {
		s := NewSubmitter("t", true, false)
		s.Key(Key{Revision: 8, Task: "other", At: 7})
		s.Place(Place{Revision: 6, Holds: holds})
		expect(t, &s, Action{Do: Pause})
	}
}

// TestTaskThatHasEnded: behind the key, an outcome or the task of another key frees the key.
func TestTaskThatHasEnded(t *testing.T) {
	for _, holds := range []Holds{Other, Ended} {
		f := NewFinder()
		f.Key(Key{Revision: 8, Task: "other", At: 7})
		if f.Place(Place{Revision: 9, Holds: holds}); f.Next() != (Action{Do: Free, Expect: 8}) {
			t.Errorf("%+v", f.Next())
		}
	}
}

// TestLostAnswer: a submission whose answer is lost is either found, or shut out before the next
// try.
func TestLostAnswer(t *testing.T) {
	stored := func() Submitter {
		s := NewSubmitter("t", true, true)
		s.Wrote(record.Won, 7)
		s.Wrote(record.Won, 8)
		s.Wrote(record.Unknown, 0)
		s.Paused()
		expect(t, &s, Action{Do: ReadPlace, Task: "t"})
		return s
	}
	s := stored()
	s.Place(Place{Revision: 9, Holds: Open})
	expect(t, &s, Action{Do: Stored, Task: "t"})

	s = stored()
	s.Place(Place{Revision: 7})
	s.Key(Key{Revision: 8, Task: "t", At: 7})
	expect(t, &s, Action{Do: Reserve, Task: "t", Expect: 7})
	s.Wrote(record.Won, 10)
	expect(t, &s, Action{Do: TakeKey, Task: "t", Expect: 8, At: 10})
}

// TestChosenID: a task that has the id is returned, and a reservation of somebody else is replaced.
func TestChosenID(t *testing.T) {
	for _, holds := range []Holds{Open, Other, Ended} {
		s := NewSubmitter("t", false, true)
		s.Place(Place{Revision: 3, Holds: holds})
		expect(t, &s, Action{Do: Taken, Task: "t"})
	}
	s := NewSubmitter("t", false, true)
	expect(t, &s, Action{Do: ReadPlace, Task: "t"})
	s.Place(Place{Revision: 3})
	expect(t, &s, Action{Do: ReadKey})
	s.Key(Key{})
	expect(t, &s, Action{Do: Reserve, Task: "t", Expect: 3})
}

// TestKeyThatWasFree: an eager try that finds the key in use looks at it at once, and the
// reservation is still good.
func TestKeyThatWasFree(t *testing.T) {
	s := NewSubmitter("t", true, true)
	s.Wrote(record.Won, 7)
	s.Wrote(record.Refused, 0)
	expect(t, &s, Action{Do: ReadKey})
	s.Key(Key{Revision: 6})
	expect(t, &s, Action{Do: TakeKey, Task: "t", Expect: 6, At: 7})
}
