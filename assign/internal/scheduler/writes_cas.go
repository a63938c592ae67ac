package scheduler

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// seal writes the seal by compare-and-swap.
func (c *commits) seal(e tasks.WriteSeal) {
	op, err := sealing(record.Seal{Version: 1, Epoch: e.Epoch, Holder: c.l.h.Instance(), Mark: c.l.mark}, e.Expect)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	c.swap(op, commit{number: e.Write, op: op})
}

// sealSize is the size of all seals, as far as the instance's name allows: a stream that is full takes a record in the place
// of another one if it is not larger.
const sealSize = 512

// sealing is the write of a seal over revision expect.
func sealing(r record.Seal, expect uint64) (natskv.Write, error) {
	value, err := json.Marshal(r)
	if missing := sealSize - len(value) - len(strconv.FormatUint(expect, 10)); missing > 0 { // the condition is stored with it
		value = append(value, strings.Repeat(" ", missing)...)
	}
	return natskv.Write{Key: record.SealKey, Value: value, Expect: expect}, err
}

// erased is a record that says nothing any more: an empty one in its place, which the server removes after a moment.
func erased(key string) natskv.Write {
	return natskv.Write{Key: key, TTL: record.MinRetention}
}

var recordKeys = [...]string{
	tasks.NoteRecord: record.NoteKey, tasks.CheckpointRecord: record.CheckpointKey, tasks.CancelRecord: record.CancelKey, tasks.TickRecord: record.TickKey,
}

// erase removes a record under the seal; one that others write too by compare-and-swap: a newer one must stand.
func (c *commits) erase(w tasks.Erase) {
	op := erased(recordKeys[w.What] + w.ID)
	if w.Expect == 0 {
		c.write(commit{number: w.Write, guard: w.Guard, op: op})
		return
	}
	op.Expect = w.Expect
	c.swap(op, commit{number: w.Write, op: op})
}

// free empties the record of a unique key by compare-and-swap: clients write it too, and theirs must stand.
func (c *commits) free(w tasks.FreeUnique) {
	op := erased(record.UniqueKey + w.Key)
	op.Expect = w.Expect
	c.swap(op, commit{number: w.Write, op: op})
}
