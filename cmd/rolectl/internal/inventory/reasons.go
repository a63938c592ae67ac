package inventory

import "github.com/rolemanager/rolemanager/assign"

// BlockedReasons are the reasons for which tasks wait that time alone does not end, as far as the scheduler can tell.
var BlockedReasons = map[assign.Reason]struct{ Text, Fix string }{
	assign.ReasonPaused:      {"it is paused", "rolectl tasks resume -n NAMESPACE KIND"},
	assign.ReasonNoWorker:    {"no worker handles it", "start a process that handles it, or cancel them"},
	assign.ReasonLabels:      {"no worker that handles it has their labels", "start one that has, or cancel them: rolectl tasks overview -n NAMESPACE -o wide shows labels"},
	assign.ReasonWeight:      {"no worker that handles it has so many slots", "raise the Slots of one to their Weight, or cancel them"},
	assign.ReasonDrained:     {"the workers for it are drained, or leave", "rolectl tasks drain -n NAMESPACE INSTANCE --undo, or start another one"},
	assign.ReasonUnreachable: {"the workers for it do not listen to the scheduler", "see their logs, and their permission to subscribe to NAMESPACE.work.*.<instance>"},
}
