package tasksim

import (
	"maps"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// neighbours are the tasks that ran beside each other when a worker was lost.
type neighbours struct {
	sessions map[string]map[tasks.Attempt]uint64 // that an attempt of a task was pushed to
	fallen   map[uint64][]string                 // by session: the tasks whose handlers ran when it ended
}

func (n *neighbours) init() {
	n.sessions, n.fallen = map[string]map[tasks.Attempt]uint64{}, map[uint64][]string{}
}

// assigns takes note of an attempt that is pushed to a session.
func (n *neighbours) assigns(id string, a tasks.Attempt, session uint64) {
	if n.sessions[id] == nil {
		n.sessions[id] = map[tasks.Attempt]uint64{}
	}
	n.sessions[id][a] = session
}

// fell takes note of a worker that ends with all that runs there.
func (n *neighbours) fell(k *worker) {
	n.fallen[k.session] = slices.Sorted(maps.Keys(k.runs))
}

// lastLoss checks a task that ends for the workers that it has lost: nothing else ran in the last
// one. So nobody ends for what a neighbour has done.
func (w *taskWorld) lastLoss(id string, o *tasks.Outcome) {
	if o.Cause != tasks.CauseWorkerLost {
		return
	}
	w.Buried++
	if w.Poisons > 0 && !w.poison(id) {
		w.fail("%s is dead, and has taken no worker down", id)
	}
	session := w.sessions[id][o.Attempt]
	for _, other := range w.fallen[session] {
		if other != id {
			w.fail("%s is dead for a worker, of session %d, that also ran %s", id, session, other)
		}
	}
}
