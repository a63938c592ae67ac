package stage

import "testing"

// TestReruns counts what the scheduler knows, and what the instances of this process have seen.
func TestReruns(t *testing.T) {
	j := newJob(options{rate: 1}, nil)
	id := j.run + "/file"
	check := func(attempts, reruns, resumed int) {
		t.Helper()
		gotReruns, gotResumed := j.reruns(Outcome{Task: id, Attempts: attempts})
		if gotReruns != reruns || gotResumed != resumed {
			t.Errorf("of %d attempts %d reruns, %d resumed, want %d and %d", attempts, gotReruns, gotResumed, reruns, resumed)
		}
	}
	check(0, 0, 0)
	check(2, 1, 0)
	j.started(id, true) // the attempt before was seen by nobody
	check(1, 1, 1)
	check(2, 1, 1)
	j.started(id, false)
	j.started(id, false)
	check(2, 2, 1)
	j.started(id+"=twin", true)
	j.started("of another run", true)
	check(2, 2, 1)
}
