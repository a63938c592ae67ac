package unique

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Requeuer submits a dead task with a unique key once more. The outcome is there already, and has
// the part of the reservation. It is plain data.
//
// It is for one try. After a Pause the place of the task is to be read again, for another Requeuer.
type Requeuer struct {
	task   string
	dead   uint64 // the revision of the outcome
	finder Finder
	next   Action // after the finder, and zero before
}

// NewRequeuer returns the Requeuer of a task whose outcome is at revision dead.
func NewRequeuer(task string, dead uint64) Requeuer { return Requeuer{task: task, dead: dead} }

// Next is what is to be done.
func (r *Requeuer) Next() Action {
	if r.next != (Action{}) {
		return r.next
	}
	return r.finder.next
}

// Key is the record of the key as it was read. If it names this very task, it is of the submission
// that has died, or of another try, which needs the same outcome: one of the two will be refused.
func (r *Requeuer) Key(k Key) {
	if r.finder.Key(k); k.Task == r.task {
		if r.finder.free(); k.At > r.dead { // the outcome is not the last record
			r.finder.again()
		}
	}
	r.found()
}

// found continues after the key turns out to be free.
func (r *Requeuer) found() {
	if a := r.finder.next; a.Do == Free {
		r.next = Action{Do: TakeKey, Task: r.task, Expect: a.Expect, At: r.dead}
	}
}

// Place is what was read in the place of the task that has the key.
func (r *Requeuer) Place(p Place) {
	r.finder.Place(p)
	r.found()
}

// Wrote is the outcome of a write.
func (r *Requeuer) Wrote(o record.Outcome, _ uint64) {
	switch {
	case r.next == (Action{}):
		r.finder.Wrote(o)
		r.found()
	case o != record.Won:
		r.next = Action{Do: Pause}
	case r.next.Do == TakeKey:
		r.next = Action{Do: Store, Task: r.task, Expect: r.dead}
	default:
		r.next = Action{Do: Stored, Task: r.task}
	}
}
