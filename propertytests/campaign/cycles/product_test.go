package cycles

import (
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestProducts: the rules belong to what elections are made of, the tasks to the other subject
// alone; no test and nothing that only tests use belongs to either.
func TestProducts(t *testing.T) {
	thorough.Only(t, "it lists what the products are made of")
	t.Chdir("../../..") // the root of the module
	dirs := map[subject][]string{}
	for _, about := range []subject{elections, tasks} {
		var err error
		if dirs[about], err = about.dirs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir              string
		elections, tasks bool
	}{
		{"election", true, true},
		{"fencing", true, true},
		{"internal/protocol", true, true},
		{"internal/natskv", true, true},
		{"internal/protocol/tasks", false, true},
		{"assign", false, true},
		{"internal/natsrun", false, false},
		{"propertytests/live/elections", false, false},
	} {
		if slices.Contains(dirs[elections], c.dir) != c.elections || slices.Contains(dirs[tasks], c.dir) != c.tasks {
			t.Errorf("%s: %v", c.dir, dirs)
		}
	}
	all, err := products(t.Context())
	if err != nil || all[elections].mark == all[tasks].mark || len(all[elections].mark) != 8 || all[tasks].commit == "" {
		t.Errorf("%v, %v", all, err)
	}
}
