package explore

import "github.com/rolemanager/rolemanager/propertytests/model/explore/tasks"

// Tasks are the configurations of tasks that are searched: two workers, each of which may lead, and
// terms one after the other.
func Tasks() []tasks.Config {
	any := map[tasks.Fault]int{}
	for f := range tasks.Faults {
		any[f] = 1
	}
	type allowed = map[tasks.Fault]int
	return []tasks.Config{
		{Name: "one task", Leaders: 2, Tasks: 1, Slots: 1, Faults: 1, Most: any},
		{Name: "two tasks", Leaders: 2, Tasks: 2, Slots: 1, Faults: 1, Most: any},
		{Name: "deposed", Leaders: 2, Tasks: 1, Slots: 1, Faults: 2, Most: allowed{tasks.Depose: 1, tasks.Delay: 1}},
		{Name: "rotated", Leaders: 2, Tasks: 1, Slots: 1, Faults: 2, Most: allowed{tasks.Rotate: 1, tasks.Delay: 1}},
		{Name: "rotated and deposed", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: allowed{
			tasks.Rotate: 1, tasks.Depose: 1, tasks.Crash: 1,
		}},
		{Name: "stale", Leaders: 2, Tasks: 1, Slots: 1, Faults: 3, Most: allowed{
			tasks.Depose: 1, tasks.Delay: 1, tasks.Lag: 1,
		}},
		{Name: "repeated", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: allowed{tasks.Repeat: 1, tasks.Failure: 1}},
		{Name: "crashed", Leaders: 1, Tasks: 2, Slots: 1, Faults: 2, Most: allowed{tasks.Crash: 1, tasks.Delay: 1}},
		{
			Name: "unheard", Leaders: 2, Tasks: 2, Slots: 2, Faults: 2,
			Most: allowed{tasks.Crash: 1, tasks.Deaf: 1, tasks.Delay: 1},
		},
		{Name: "two faults", Leaders: 2, Tasks: 2, Slots: 1, Faults: 2, Most: any},
		{Name: "three terms", Leaders: 3, Tasks: 2, Slots: 1, Faults: 3, Most: allowed{tasks.Depose: 2, tasks.Lag: 1}},
		{
			Name: "written again", Leaders: 2, Tasks: 1, Slots: 1, Faults: 3, Piecemeal: true,
			Most: allowed{tasks.Depose: 1, tasks.Rewrite: 2},
		},
	}
}
