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
	missing map[uint64]int // index in list, by revision of a submission or a checkpoint
}

const (
	frameSize   = 512 << 10 // bytes of payloads and their headers in one message, if it holds several tasks
	taskNumbers = 160       // bytes that bound the numbers of a task, and the lengths of its texts, in a frame
)

func (f *assignFrame) waits(revision uint64) bool {
	_, ok := f.missing[revision]
	return ok
}

func (f *assignFrame) loaded(revision uint64) (payload, bool) {
	for i := range f.list {
		if f.list[i].Revision == revision && !f.waits(revision) {
			t := &f.list[i]
			return payload{Data: t.Payload, Trace: t.Trace, Meta: t.Header}, true
		}
	}
	return payload{}, false
}

// leaveOut takes a task out of a frame, with the records that are still being read for it.
func (f *assignFrame) leaveOut(i int) {
	for revision, j := range f.missing {
		switch {
		case j == i:
			delete(f.missing, revision)
		case j > i:
			f.missing[revision] = j - 1
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
