package guides

import "github.com/rolemanager/rolemanager/assign"

// onHost configures a process that runs tasks, and names what may fail with all that is on it.
func onHost(node, zone string) assign.Config {
	return assign.Config{
		Namespace: "exports", Role: "exports", StreamAutoCreate: true,
		Labels: map[string]string{"host": node, "zone": zone},
	}
}
