package unique

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Key is the record of a key. Revision is 0 when there is none. Task is "" when nobody has the key.
// Claims on the place of the task that are older than At have come to nothing.
type Key struct {
	Revision uint64
	Task     string
	At       uint64
}

// Holds is what the place of a task holds.
type Holds uint8

// Nothing means that there is no record, or a reservation if Place.Revision is not 0. Other is the
// submission of a task without this key. Ended is an outcome.
const (
	Nothing Holds = iota
	Open
	Other
	Ended
)

// Place is what was read in the place of a task.
type Place struct {
	Revision uint64
	Holds    Holds
}

// Do is what a client is to do next.
type Do uint8

// ReadKey reads the record of the key; Submitter.Key answers. ReadPlace reads the place of a task;
// Place answers. Reserve, TakeKey and Store are the three writes; Wrote answers. Rewrite is a write
// too: it replaces an outcome by itself. Pause waits a moment; Paused answers. Stored and Taken end
// it: the submission is stored, or Action.Task is to be returned instead. Free ends a Finder: the
// record of the key may be replaced at Action.Expect.
const (
	ReadKey Do = iota
	ReadPlace
	Reserve
	Rewrite
	TakeKey
	Store
	Pause
	Stored
	Taken
	Free
)

// Action is one thing to do. A write replaces the record at revision Expect. At is for TakeKey.
type Action struct {
	Do     Do
	Task   string
	Expect uint64
	At     uint64
}

// Over reports whether nothing is to be done any more.
func (a Action) Over() bool { return a.Do >= Stored }

// Finder finds out whether a key may be taken. It is plain data.
type Finder struct {
	next Action
	key  Key
}

// NewFinder returns a Finder that is about to read the key.
func NewFinder() Finder { return Finder{} }

// Next is what is to be done.
func (f *Finder) Next() Action { return f.next }

// Key is the record of the key as it was read.
func (f *Finder) Key(k Key) {
	if f.key = k; k.Task == "" {
		f.free()
		return
	}
	f.next = Action{Do: ReadPlace, Task: k.Task}
}

func (f *Finder) free() { f.next = Action{Do: Free, Expect: f.key.Revision} }

// again begins once more after a moment.
func (f *Finder) again() { f.next = Action{Do: Pause} }

// Place is what was read in the place of the task that the key names.
func (f *Finder) Place(p Place) {
	switch {
	case p.Holds == Nothing: // its submission may be under way: shut it out
		f.next = Action{Do: Reserve, Task: f.key.Task, Expect: p.Revision}
	case p.Holds == Ended && p.Revision == f.key.At: // it may be about to be submitted again: likewise
		f.next = Action{Do: Rewrite, Task: f.key.Task, Expect: p.Revision}
	case p.Revision <= f.key.At: // a server that lags has answered
		f.again()
	case p.Holds == Open:
		f.next = Action{Do: Taken, Task: f.key.Task}
	default:
		f.free()
	}
}

// Wrote is the outcome of a write.
func (f *Finder) Wrote(o record.Outcome) {
	if o != record.Won {
		f.again()
		return
	}
	f.free()
}

// Paused says that a moment has passed.
func (f *Finder) Paused() { f.next = Action{Do: ReadKey} }
