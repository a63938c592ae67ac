package tasks

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// bundled are the submissions that stand together at b.<task>, by their ids. They are read by what
// is documented, like all records. There are none in a bundle that was removed.
func bundled(revision uint64, stored time.Time, name string, h nats.Header, data []byte) (map[string]Record, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var version struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal([]byte(h.Get("Task-Bundle")), &version); err != nil || version.V != 1 {
		return nil, fmt.Errorf("version %d: %v", version.V, err)
	}
	block := name[:max(0, strings.LastIndexByte(name, '.'))]
	all, policy := map[string]Record{}, ""
	for len(data) > 0 {
		index, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errors.New("an index is cut off")
		}
		data = data[size:]
		var parts [5]string // policy, keys, headers, traceparent, input
		for i := range parts {
			length, size := binary.Uvarint(data)
			if size <= 0 || length > uint64(len(data)-size) {
				return nil, errors.New("a text is cut off")
			}
			parts[i], data = string(data[size:size+int(length)]), data[size+int(length):]
		}
		if parts[0] != "" {
			policy = parts[0]
		}
		alone := nats.Header{"Task": {policy}, "Task-Keys": {parts[1]}}
		id := block + "." + strconv.FormatUint(index, 36)
		r, err := readRecord(revision, stored, alone, []byte(parts[4]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		if len(all) == 0 && id != name {
			return nil, fmt.Errorf("%s is the first", id)
		}
		all[id] = r
	}
	return all, nil
}
