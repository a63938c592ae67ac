package assign

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// seal writes the seal by compare-and-swap.
func (c *commits) seal(w tasks.WriteSeal) {
	value, err := json.Marshal(sealRecord{Version: 1, Epoch: w.Epoch, Holder: c.l.h.Instance(), Mark: c.l.mark})
	if err != nil {
		return // strings and numbers can always be encoded
	}
	c.l.writer.Submit(natskv.Write{Key: sealKey, Value: value, Expect: w.Expect}, writeWithin, c.answer(w.Write))
}

// erased is a record that says nothing any more: an empty one in its place, which the server removes after a moment.
func erased(key string) natskv.Write {
	return natskv.Write{Key: key, TTL: minRetention, Header: nats.Header{}}
}

var recordKeys = [...]string{
	tasks.NoteRecord: noteKey, tasks.CheckpointRecord: checkpointKey, tasks.CancelRecord: cancelKey, tasks.TickRecord: tickKey,
}

// erase removes a record under the seal; one that others write too by compare-and-swap: a newer one must stand.
func (c *commits) erase(w tasks.Erase) {
	op := erased(recordKeys[w.What] + w.ID)
	if w.Expect == 0 {
		c.write(commit{number: w.Write, guard: w.Guard, op: op})
		return
	}
	op.Expect = w.Expect
	c.l.writer.Submit(op, writeWithin, c.answer(w.Write))
}

// free empties the record of a unique key by compare-and-swap: clients write it too, and theirs must stand.
func (c *commits) free(w tasks.FreeUnique) {
	op := erased(uniqueKey + w.Key)
	op.Expect = w.Expect
	c.l.writer.Submit(op, writeWithin, c.answer(w.Write))
}
