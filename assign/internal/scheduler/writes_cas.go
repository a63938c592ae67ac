package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// seal writes the seal by compare-and-swap.
func (q *writeQueue) seal(e tasks.WriteSeal) {
	op, err := sealWrite(record.Seal{Version: 1, Epoch: e.Epoch, Holder: q.host.Instance(), Mark: q.mark}, e.Expect)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	q.submit(op, write{number: e.Write, op: op})
}

var recordKeys = [...]string{
	tasks.NoteRecord: record.NoteKey, tasks.CheckpointRecord: record.CheckpointKey, tasks.CancelRecord: record.CancelKey, tasks.TickRecord: record.TickKey,
}

// erase removes a record under the seal. It removes a record that others write, too, by compare-and-swap: a newer
// one must stay.
func (q *writeQueue) erase(e tasks.Erase) {
	op := emptied(recordKeys[e.What] + e.ID)
	if e.Expect == 0 {
		q.add(write{number: e.Write, guard: e.Guard, op: op})
		return
	}
	op.Expect = e.Expect
	q.submit(op, write{number: e.Write, op: op})
}

// free empties the record of a unique key by compare-and-swap: clients write it too, and theirs must stay.
func (q *writeQueue) free(e tasks.FreeUnique) {
	op := emptied(record.UniqueKey + e.Key)
	op.Expect = e.Expect
	q.submit(op, write{number: e.Write, op: op})
}
