package findings

import (
	"strings"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Advice is why tasks wait that will not run by waiting alone, as far as the scheduler can tell,
// and what would end the wait. ok is false for a reason that passes with time.
func Advice(namespace, kind string, why assign.Reason) (text, fix string, ok bool) {
	r, ok := blocked[why]
	fix = strings.NewReplacer("NAMESPACE", namespace, "KIND", wording.Clean(kind)).Replace(r.fix)
	return r.text, fix, ok
}

var blocked = map[assign.Reason]struct{ text, fix string }{
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
