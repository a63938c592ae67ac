package tasks

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// bundleLast is the last record of a bundle, or the last one beside it.
type bundleLast struct {
	revision uint64
	empty    bool
	members  []string // of a bundle that is not empty: their ids
}

// stands notes a record of a bundle, or one beside it, unless a later one is known.
func (c *RecordLog) stands(key string, s bundleLast) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bundles[key].revision >= s.revision {
		return
	}
	c.bundles[key] = s
	switch bundle := strings.HasPrefix(key, "b."); {
	case bundle && s.empty:
		c.a.Tally.Add("bundles ended", 1)
	case bundle:
		c.a.Tally.Add("bundles", 1)
		c.a.Tally.Add("in bundles", len(s.members))
	case !s.empty:
		c.a.Tally.Add("records beside bundles", 1)
	}
}

// sweepBundles checks that nothing is left of bundles: each stands only while one of its members is
// open, and the record beside it only while it stands.
func sweepBundles(records map[string][]Record, bundles map[string]bundleLast) (violations []Violation) {
	for key, s := range bundles {
		open := func(id string) bool {
			return !slices.ContainsFunc(records[id], func(r Record) bool {
				return r.Outcome != nil && r.Revision > s.revision
			})
		}
		name, beside := strings.CutPrefix(key, "e.")
		b, known := bundles["b."+name]
		switch {
		case s.empty:
		case beside && (!known || b.empty):
			violations = append(violations, Violation{name, fmt.Errorf("%s stands without its bundle: %+v", key, s)})
		case !beside && !slices.ContainsFunc(s.members, open):
			violations = append(violations, Violation{s.members[0], fmt.Errorf("%s stands, and all have ended: %+v", key, s)})
		}
	}
	return violations
}
