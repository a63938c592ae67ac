package scheduler

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// assignFrame is a frame of assignments that is being completed with payloads and checkpoints.
type assignFrame struct {
	push    tasks.Assign
	list    []frame.Task
	missing map[uint64][]int // indexes in list, by revision of a record with submissions, or of a checkpoint
}

const (
	frameSize   = 512 << 10 // bytes of payloads and their headers in one message, if it holds several tasks
	taskNumbers = 160       // bytes that bound the numbers of a task, and the lengths of its texts, in a frame
)

func (f *assignFrame) waits(revision uint64) bool {
	_, ok := f.missing[revision]
	return ok
}

// loaded is the input of a submission, if it has come.
func (f *assignFrame) loaded(id string, revision uint64) (payload, bool) {
	for i := range f.list {
		if f.list[i].ID == id && f.list[i].Revision == revision && !f.waits(revision) {
			t := &f.list[i]
			return payload{Data: t.Payload, Trace: t.Trace, Meta: t.Header}, true
		}
	}
	return payload{}, false
}

// take gives the task with an index in the list what was read for it. It is false if the record has
// nothing of the task.
func (f *assignFrame) take(i int, x *submissions) bool {
	t := &f.list[i]
	if x.entry.Revision == t.Checkpoint {
		t.Saved = x.entry.Value
		return true
	}
	s, there := x.of(t.ID)
	p := payloadOf(&s)
	t.Payload, t.Trace, t.Header = p.Data, p.Trace, p.Meta
	return there
}

// leaveOut takes a task out of a frame, with the records that are still being read for it.
func (f *assignFrame) leaveOut(i int) {
	for revision, list := range f.missing {
		left := list[:0]
		for _, j := range list {
			switch {
			case j < i:
				left = append(left, j)
			case j > i:
				left = append(left, j-1)
			}
		}
		if f.missing[revision] = left; len(left) == 0 {
			delete(f.missing, revision)
		}
	}
	f.list = slices.Delete(f.list, i, i+1)
}

// fits returns the end of the tasks, beginning with index from, that go into one message with room
// bytes.
func (f *assignFrame) fits(from, room int) int {
	to, size := from, 0
	for ; to < len(f.list); to++ {
		t := &f.list[to]
		size += len(t.ID) + len(t.Policy.Kind) + len(t.Trace) + len(t.Header) + len(t.Payload) + len(t.Saved) + taskNumbers
		if to > from && size > room {
			break
		}
	}
	return to
}
