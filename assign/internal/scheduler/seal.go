package scheduler

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// sealSize is the size of all seals, as far as the instance's name allows: a full stream lets a
// record replace another one if the new record is not larger.
const sealSize = 512

// sealWrite is the write of a seal over revision expect.
func sealWrite(r record.Seal, expect uint64) (natskv.Write, error) {
	value, err := json.Marshal(r)
	// the condition is stored with it
	if missing := sealSize - len(value) - len(strconv.FormatUint(expect, 10)); missing > 0 {
		value = append(value, strings.Repeat(" ", missing)...)
	}
	return natskv.Write{Key: record.SealKey, Value: value, Expect: expect}, err
}

// emptied is the write of an empty record, which says nothing any more. The server removes it after
// a moment.
func emptied(key string) natskv.Write {
	return natskv.Write{Key: key, TTL: record.MinRetention}
}

// retire notes in the seal that the term has ended in peace: the process did not die of a task that
// it ran itself. Without that note, the next scheduler is careful with the tasks that it finds. The
// wait for the answer is bounded by the operation timeout.
//
// It also makes a new seal, after which none of our writes that are still under way is stored.
func (s *scheduler) retire() {
	if s.applier.sealed == 0 || s.failure != nil || !s.rules.Ready() || !natsconn.Soon(s.conn.IsConnected, false) {
		return
	}
	op, err := sealWrite(record.Seal{
		Version: 1, Epoch: s.epoch, Holder: s.host.Instance(), Mark: s.mark, Clean: true, Since: s.first,
		Doubted: s.rules.Doubted(),
	}, s.applier.sealed)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	answered := make(chan struct{})
	s.writer.Submit(op, s.host.Config().OpTimeout, func(natskv.Result) { close(answered) })
	<-answered // the writer answers within the time that it was given
}
