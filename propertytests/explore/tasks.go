package explore

import "github.com/rolemanager/rolemanager/propertytests/explore/assignment"

// Tasks are the configurations of tasks that are searched: two workers, each of which may lead, and terms one after the
// other.
func Tasks() []assignment.Config {
	any := map[assignment.Fault]int{}
	for f := range assignment.Faults {
		any[f] = 1
	}
	type most = map[assignment.Fault]int
	return []assignment.Config{
		{Name: "one task", Leaders: 2, Tasks: 1, Slots: 1, Faults: 1, Most: any},
		{Name: "two tasks", Leaders: 2, Tasks: 2, Slots: 1, Faults: 1, Most: any},
		{Name: "deposed", Leaders: 2, Tasks: 1, Slots: 1, Faults: 2, Most: most{assignment.Depose: 1, assignment.Delay: 1}},
		{Name: "rotated", Leaders: 2, Tasks: 1, Slots: 1, Faults: 2, Most: most{assignment.Rotate: 1, assignment.Delay: 1}},
		{Name: "rotated and deposed", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: most{assignment.Rotate: 1, assignment.Depose: 1, assignment.Crash: 1}},
		{Name: "stale", Leaders: 2, Tasks: 1, Slots: 1, Faults: 3, Most: most{assignment.Depose: 1, assignment.Delay: 1, assignment.Lag: 1}},
		{Name: "repeated", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: most{assignment.Repeat: 1, assignment.Failure: 1}},
		{Name: "crashed", Leaders: 1, Tasks: 2, Slots: 1, Faults: 2, Most: most{assignment.Crash: 1, assignment.Delay: 1}},
		{Name: "unheard", Leaders: 2, Tasks: 2, Slots: 2, Faults: 2, Most: most{assignment.Crash: 1, assignment.Deaf: 1, assignment.Delay: 1}},
		{Name: "two faults", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: any},
		{Name: "three terms", Leaders: 3, Tasks: 2, Slots: 1, Faults: 3, Most: most{assignment.Depose: 2, assignment.Lag: 1}},
	}
}
