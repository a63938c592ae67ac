package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// GroupRetention is how long the outcomes of a group's members are kept at least. A group whose
// members were not all submitted is given up after as long.
const GroupRetention = 24 * time.Hour

// TallyMargin is how much longer the record of a group is kept than the outcome of its completion.
// The record of an open group is written again each day.
const TallyMargin = 7 * 24 * time.Hour

// maxGroup is how long the name of a group is at most, so that the ids of its members fit.
const maxGroup = 200 - len(groups.Prefix) - len("/99999")

// GroupID is the id of the task that completes the group of a name.
func GroupID(name string) (string, error) {
	if !naming.Valid(name) || strings.Contains(name, "/") || len(name) > maxGroup {
		return "", fmt.Errorf(
			"%.220q cannot name a group: use letters, digits, - _ = and dots between them, %d bytes at most", name, maxGroup)
	}
	return groups.Prefix + name, nil
}

// CheckSize says what is wrong with the size of a group, or with what else its completion waits
// for; "" for nothing.
func CheckSize(size int, a *After) string {
	if size < 1 || size > groups.MaxSize {
		return fmt.Sprintf("a group of %d tasks: use 1 to %d", size, groups.MaxSize)
	}
	if len(a.IDs) > 0 || a.Ended {
		return "the completion of a group waits for its members only: leave After and AfterEnded out"
	}
	return ""
}

// Tally is the data at g.<task>: what became of the members of the group that the task completes.
type Tally struct {
	Version int    `json:"v"`
	Of      uint64 `json:"of"` // the revision of the completion's submission
	Size    int    `json:"size"`
	Closed  bool   `json:"closed,omitempty"` // all members were submitted
	Fates   []byte `json:"fates"`            // four bits for each member
}

// TallySize is how large the record of a group may become, in bytes.
func TallySize(size int) int64 { return int64(size)*2/3 + 256 }

func EncodeTally(t Tally) ([]byte, error) {
	t.Version = 1
	return json.Marshal(t)
}

func DecodeTally(data []byte) (t Tally, err error) {
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if t.Version != 1 || t.Size < 1 || t.Size > groups.MaxSize || len(t.Fates) != (t.Size+1)/2 {
		return Tally{}, ErrRecord
	}
	return t, nil
}
