package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestTaskID(t *testing.T) {
	legal := regexp.MustCompile(`^[a-zA-Z0-9/_=-]+(\.[a-zA-Z0-9/_=-]+)*$`)
	long := strings.Repeat("directory/", 60) + "file"
	run := strings.Repeat("0", 36)
	ids := map[string]string{}
	for _, rel := range []string{
		"main.go", ".ci/run", "a/.hidden", "a b", "a=20b", "a*b", "a>b", "a..b", "a.=2Eb",
		"..a", "...", "a=2E=2Eb", "end.", "ünïcode", "tab\tnewline\n", "\xff", long, long + "2",
	} {
		id := taskID(run, rel)
		if !legal.MatchString(id) || len(id) > 200 {
			t.Errorf("id of %q is %q", rel, id)
		}
		if other, taken := ids[id]; taken {
			t.Errorf("%q and %q have the id %q", rel, other, id)
		}
		ids[id] = rel
	}
	if id := taskID("run", "docs/guide.md"); id != "run/docs/guide.md" {
		t.Errorf("a plain path becomes %q", id)
	}
}
