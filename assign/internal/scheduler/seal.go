package scheduler

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
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
