package tasks

import (
	"reflect"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// Revisions of the bucket and sequences of the stream are far above every counter, and apart from
// each other.
const (
	firstRevision = 1 << 40
	firstSequence = 1 << 41
)

// omitted are the fields that no decision is made upon. Everything else counts.
var omitted = map[string]string{
	"Scheduler.now":         "of the last step; each step brings its own",
	"Scheduler.out":         "empty between steps",
	"table.holes":           "for listings",
	"table.first":           "follows from slots",
	"task.alike":            "likewise",
	"Scheduler.spare":       "memory to be used again",
	"Scheduler.heads":       "memory to be used again",
	"Scheduler.among":       "memory to be used again",
	"Scheduler.count":       "how many tasks are in which phase",
	"Scheduler.marks":       "for a task that is submitted again under its id",
	"Scheduler.coming":      "nothing recurs",
	"Scheduler.unscheduled": "nothing recurs",
	"Scheduler.clock":       "nobody says what time it is, so it shows what now shows",
	"Scheduler.readyAt":     "for limits of a rate, which are not set",
	"Scheduler.pools":       "follows from workerList and classes, or is recreated when dirty",
	"Scheduler.round":       "only tells one round from the next",
	"Scheduler.workers":     "the same as workerList, by session",
	"SchedulerConfig.Rand":  "the same for all",
	"queueClass.pool":       "follows from workerList, or is recreated when dirty",
	"queueClass.open":       "how many tasks there are",
	"kind.count":            "how many tasks are in which phase",
	"kind.open":             "how many tasks there are",
	"kind.policy":           "the same for all",
	"worker.hash":           "follows from the instance",
	"worker.reserved":       "for tasks that need more than one slot",
	"worker.kinds":          "the same for all",
	"task.policy":           "the same for all",
	"task.since":            "only measures how long a task waited",
	"task.place":            "follows from the queue",
	"task.expiry":           "follows from the queue",
	"task.slot":             "for listings",
	"current.began":         "only measures how long an attempt took, and so how long a suspect is tried",
	"write.tick":            "nothing recurs",
	"write.of":              "nothing recurs",
	"Worker.cfg":            "the same for all",
	"Worker.out":            "empty between steps",
	"Worker.kinds":          "the same for all",
	"Worker.busy":           "how many runs are not unacked",
	"Worker.taken":          "the same",
	"Outcome.Body":          "not set",
	"Outcome.Cause":         "told",
	"Outcome.Instance":      "told",
	"Outcome.Tries":         "told",
	"Assignment.Try":        "told",
	"Assignment.Policy":     "the same for all",
	"Assign.Instance":       "follows from the session",
	"Stop.Instance":         "follows from the session",
}

// apart is what makes numbers.
var apart = map[string]string{"Scheduler.last": "makes the next number of a write or a frame"}

// counters are numbers that matter by their order only.
var counters = map[string]snapshot.Class{
	"Scheduler.writes": snapshot.Write, "write.number": snapshot.Write, "worker.frame": snapshot.Write,
	"worker.unheard": snapshot.Write,
	"seal.write":     snapshot.Write,
	"Assign.Frame":   snapshot.Write, "message.frame": snapshot.Write, "message.write": snapshot.Write,
	"worker.serial": snapshot.Beat, "worker.sent": snapshot.Beat, "current.serial": snapshot.Beat,
	"handed.serial": snapshot.Beat,
	"stop.serial":   snapshot.Beat, "Assignment.Serial": snapshot.Beat, "Stop.Serial": snapshot.Beat,
	"Assign.Low": snapshot.Beat,
	"Worker.low": snapshot.Beat, "Worker.memory": snapshot.Beat,
	"task.due": snapshot.Version, // whose turn comes first; when it comes stands in the queue of the delayed
}

// Good reports whether every task has its outcome, or nobody is left who could see to it: terms are
// bounded here.
func (x *Model) Good(w World) bool {
	if w.terms == x.cfg.Leaders && w.leaders[w.terms-1].s == nil {
		return true
	}
	for t := range x.cfg.Tasks {
		if w.ledger.newest("q."+taskID(t)).Kind != outcome {
			return false
		}
	}
	return true
}

// Fault reports whether a move is one of the faults.
func (x *Model) Fault(m search.Move) bool {
	v, _, _ := parts(m)
	_, is := faultOf[v]
	return is
}

func newRules() *snapshot.Rules {
	return &snapshot.Rules{
		Frozen:  []reflect.Type{reflect.TypeFor[tasks.Policy]()},
		Omitted: omitted, Apart: apart, Fields: counters,
		Clipped: map[string]int{"seal.fails": 12, "seal.trouble": 12, "worker.tries": 6, "worker.refused": 10},
		Instant: reflect.TypeFor[record.Instant](),
		Horizon: int64(2 * unit),
		Number: func(x uint64) (snapshot.Name, bool) {
			return snapshot.Name{Class: snapshot.Revision, Value: x - firstRevision}, x >= firstRevision && x < 1<<56
		},
		Text: func(s string) (snapshot.Name, bool) {
			if len(s) == 2 && s[0] == '=' {
				return snapshot.Name{Class: snapshot.Member, Value: uint64(s[1] - 'a')}, true
			}
			return snapshot.Name{}, false
		},
	}
}
