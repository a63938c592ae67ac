package doctor

import "testing"

// TestOlder: versions are compared by their numbers; a text that is not a version is not old.
func TestOlder(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{
		"2.11.9": true, "2.9.25": true, "1.99.99": true, "2.12.0-RC.1": false, "2.12.0": false, "2.12.1": false,
		"2.100.0": false, "3.0.0": false, "2.12": false, "dev": false, "": false,
	} {
		if got := older(v, 2, 12, 0); got != want {
			t.Errorf("%q before 2.12.0: %v", v, got)
		}
	}
}
