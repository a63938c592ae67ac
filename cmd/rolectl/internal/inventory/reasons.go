package inventory

import "github.com/rolemanager/rolemanager/assign"

// BlockedReasons are the reasons for waiting that do not pass with time, as far as the scheduler
// can tell.
var BlockedReasons = map[assign.Reason]struct{ Text, Fix string }{
	assign.ReasonPaused:   {"it is paused", "rolectl tasks resume -n NAMESPACE KIND"},
	assign.ReasonNoWorker: {"no worker handles it", "start a process that handles this kind, or cancel the tasks"},
	assign.ReasonLabels: {
		"no worker that handles it has their labels",
		"start a worker with these labels, or cancel the tasks: rolectl tasks overview -n NAMESPACE -o wide shows labels",
	},
	assign.ReasonSlots: {
		"no worker that handles it has enough slots",
		"raise the Slots of a worker to their Weight, or cancel the tasks",
	},
	assign.ReasonDrained: {
		"the workers for it are drained or leaving",
		"rolectl tasks undrain -n NAMESPACE INSTANCE, or start another worker",
	},
	assign.ReasonUndecodable: {
		"the workers for it cannot decode its input",
		"start workers of the version that it was submitted with, or cancel the tasks",
	},
	assign.ReasonUnreachable: {
		"the workers for it do not listen to the scheduler",
		"see that messages to $TASKS.NAMESPACE.*.work.*.<instance> reach them: permission to subscribe, imports, leaf nodes",
	},
}
