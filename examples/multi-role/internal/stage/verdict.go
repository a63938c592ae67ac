package stage

import (
	"context"
	"errors"

	"github.com/rolemanager/rolemanager/assign"
)

// judge counts one task by its outcome, compared with a digest that is computed here, without the
// cluster.
//
// The tree may change while it is read. A digest that differs is wrong only if the file is as it
// was when the tree was walked. A file that has gone is a failure, which the outcome must report.
func (j *job) judge(ctx context.Context, o Outcome) {
	if o.Task == "" {
		if !interrupted(ctx) {
			j.count(func(t *tally) { t.Lost++ }, "%s: %v", o.Rel, o.Err)
		}
		return
	}
	j.count(func(t *tally) {
		t.Submitted++
		if o.Cancelled {
			t.Cancelled++
		}
	}, "")
	reruns, resumed := j.reruns(o)
	again := func(t *tally) { t.Reruns += reruns; t.Resumed += resumed }
	var failed *assign.TaskError
	var fault string
	if o.Err == nil {
		fault = wrong(j.byRel[o.Rel], o)
	}
	switch {
	case o.Err == nil && fault == "":
		j.count(func(t *tally) { t.Succeeded++; again(t) }, "")
	case o.Err == nil:
		j.count(func(t *tally) { t.Wrong++; again(t) }, "%s: %s", o.Rel, fault)
	case errors.As(o.Err, &failed) && (failed.Cause == "permanent" || failed.Cause == "max_attempts"):
		j.count(func(t *tally) { t.Failed++; again(t) }, "%s: %s", o.Rel, failed.Message)
	case !interrupted(ctx):
		j.count(func(t *tally) { t.Lost++; again(t) }, "%s: no outcome: %v", o.Rel, o.Err)
	}
}

// interrupted reports whether ctx has ended because the program is to end.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStalled)
}

// wrong describes the fault of an output, "" if there is none.
func wrong(f walked, o Outcome) string {
	local, err := digest(f.Path)
	switch {
	case f.changed(): // asked last, after the file was read
		return ""
	case err != nil:
		return "hashed by a follower, but here: " + err.Error()
	case local != o.SHA256 || f.Size != o.Size:
		return "digest is " + o.SHA256 + ", but here " + local
	}
	return ""
}
