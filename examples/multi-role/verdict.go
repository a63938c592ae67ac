package main

import (
	"context"
	"errors"

	"github.com/rolemanager/rolemanager/assign"
)

// judge counts one task by its outcome, compared with a digest that is computed here, without the cluster.
//
// The tree may change while it is read: a digest that differs is wrong only if the file is as it was when the tree was
// walked, and a file that has gone is a failure that the outcome must say.
func (j *job) judge(ctx context.Context, f file, out checksumOut, err error, reruns int) {
	var failed *assign.TaskError
	var fault string
	if err == nil {
		fault = wrong(f, out)
	}
	switch {
	case err == nil && fault == "":
		j.count(func(t *tally) { t.Succeeded++; t.Reruns += reruns }, "")
	case err == nil:
		j.count(func(t *tally) { t.Wrong++; t.Reruns += reruns }, "%s: %s", f.rel, fault)
	case errors.As(err, &failed) && (failed.Cause == "permanent" || failed.Cause == "max_attempts"):
		j.count(func(t *tally) { t.Failed++; t.Reruns += reruns }, "%s: %s", f.rel, failed.Message)
	case !interrupted(ctx):
		j.count(func(t *tally) { t.Lost++; t.Reruns += reruns }, "%s: no outcome: %v", f.rel, err)
	}
}

// wrong says what is wrong with an outcome, "" if nothing is.
func wrong(f file, out checksumOut) string {
	local, err := digest(f.path)
	switch {
	case f.changed(): // looked at last: whatever was read here was read before
		return ""
	case err != nil:
		return "hashed by a follower, but here: " + err.Error()
	case local != out.SHA256 || f.size != out.Size:
		return "digest is " + out.SHA256 + ", but here " + local
	}
	return ""
}
