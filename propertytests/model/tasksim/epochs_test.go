package tasksim

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestEpochsTell: the check of what a worker may believe goes by what its view has had, to the
// record, and tells of each thing that is done by another epoch. The log grants epochs 2 and 5, to
// two sessions or to one, and so many of its records have been seen.
func TestEpochsTell(t *testing.T) {
	t.Parallel()
	attempt := func(epoch uint64) *tasks.Assignment {
		return &tasks.Assignment{ID: "t1", Attempt: tasks.Attempt{Epoch: epoch, N: 1}}
	}
	for name, c := range map[string]struct {
		seen    int
		frame   uint64
		attempt uint64
		rotated bool
		want    string
	}{
		"its epoch":              {5, 5, 5, false, ""},
		"before it is deposed":   {4, 2, 2, false, ""},
		"deposed in view":        {5, 2, 2, false, "after epoch 5 was in its view"},
		"rotated in view":        {5, 2, 2, true, "after epoch 5 was in its view"},
		"not in view":            {4, 5, 5, false, "its view has only epoch 2"},
		"nobody in view":         {1, 2, 2, false, "its view has only epoch 0"},
		"an attempt of the last": {6, 5, 2, false, "starts attempt 2.1 of t1, after epoch 5"},
		"one of the same term":   {6, 5, 2, true, ""},
	} {
		w := &taskWorld{}
		for i, kind := range []kindOf{leaseRecord, roleRecord, memberRecord, deathRecord, roleRecord, leaseRecord} {
			session := uint64(1)
			if i > 3 && !c.rotated {
				session = 6
			}
			w.bucket.log = append(w.bucket.log, entry{kind: kind, revision: uint64(i + 1), session: session})
		}
		k := &worker{w: w, p: &participant{w: w, name: "a", seen: c.seen}}
		k.starts(&sentFrame{epoch: c.frame}, attempt(c.attempt))
		switch {
		case c.want == "" && w.broken != nil:
			t.Errorf("%s: %v", name, w.broken)
		case c.want != "" && (w.broken == nil || !strings.Contains(w.broken.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, w.broken, c.want)
		}
	}
}
