package record

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// FuzzTally: any record of a group and any id is read without harm, and can be written again as it
// was read.
func FuzzTally(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"of":7,"size":3,"closed":true,"fates":"EiM="}`, `{"v":1,"of":7,"size":3,"fates":""}`, `{"v":2}`, `{}`, ``, `null`,
		`{"v":1,"of":1,"size":100000,"fates":"AA=="}`, `{"v":1,"of":1,"size":-1,"fates":""}`,
		`group/a/7`, `group/a/07`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		heap.Bounded(t, len(text), func() {
			if completion, i, ok := groups.MemberOf(text); ok && groups.MemberID(completion, i) != text {
				t.Errorf("%q is member %d of %q", text, i, completion)
			}
			r, err := DecodeTally([]byte(text))
			if err != nil {
				return
			}
			tally := groups.NewTally(r.Size)
			tally.Merge(r.Closed, r.Fates)
			r.Closed, r.Fates = tally.Record()
			data, err := EncodeTally(r)
			if again, err := DecodeTally(data); err != nil || again.Size != r.Size || int64(len(data)) > TallySize(r.Size) {
				t.Errorf("%q becomes %d bytes, %v", text, len(data), err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	})
}

func TestNamesOfGroups(t *testing.T) {
	long := strings.Repeat("x", maxGroup)
	for name, ok := range map[string]bool{
		"a": true, "a.b": true, long: true, "": false, "a/b": false, "a b": false, long + "x": false,
	} {
		id, err := GroupID(name)
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		completion, _, member := groups.MemberOf(groups.MemberID(id, groups.MaxSize-1))
		if ok && (!member || completion != id) {
			t.Errorf("%q: the members of %s are of %s", name, id, completion)
		}
	}
}
