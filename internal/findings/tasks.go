package findings

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Unscheduled says that nobody hands out the tasks of a namespace. Role is the one that its last
// scheduler led, "" if it is not known.
func (l *List) Unscheduled(namespace, what, role string) {
	fix := "start a process that leads the scheduler role"
	if role != "" {
		fix += " (the last one led " + role + "): rolectl inspect " + role
	}
	l.Add(Warning, "tasks", fix, "%s: %s", namespace, what)
}

// Mute says that the leader of a role hands out the tasks of a namespace, and does not answer
// questions about them.
func (l *List) Mute(namespace string, f *RoleFacts) {
	level := Critical
	fix := "check the log of " + f.Info.Leader + "; if it has crashed, check again in " + wording.Age(f.LeaseLeft())
	switch {
	case f.missing() && f.LeaseLeft() > 0: // nobody knows yet whether it has crashed
		level, fix = Warning, "check again in "+wording.Age(f.LeaseLeft())
		if !Followed(&f.Info) {
			fix = "start a process that contends for " + f.Info.Role
		}
	case f.missing():
		fix = "start a process that contends for " + f.Info.Role + ", or check the logs of those that do: rolectl inspect " +
			f.Info.Role
	}
	l.Add(level, "tasks", fix, "%s: %s", namespace, f.Muteness())
}

// Muteness says that in a sentence, and for how long the leader holds the role if it has crashed.
func (f *RoleFacts) Muteness() string {
	role, leader := f.Info.Role, f.Info.Leader
	text := fmt.Sprintf("%s leads %s, and does not answer questions about tasks", leader, role)
	switch left := wording.Age(f.LeaseLeft()); {
	case !f.missing():
		return text + "; if it has crashed, it holds the role until its lease ends, in " + left + " at most"
	case f.HeartbeatAge < 0:
		return text + ", and its lease is gone"
	case f.LeaseLeft() > 0:
		return fmt.Sprintf("%s: silent for %s, it holds the role until its lease ends, in %s at most", text,
			wording.Age(f.HeartbeatAge), left)
	}
	return fmt.Sprintf("%s: it is silent for %s, and nobody has taken the role over", text, wording.Age(f.HeartbeatAge))
}

// missing reports whether a heartbeat of the leader is missing. By default one comes every fifth of
// a TTL.
func (f *RoleFacts) missing() bool { return f.HeartbeatAge < 0 || f.HeartbeatAge > 3*f.TTL/10 }

// LeaseLeft is how long a leader that has crashed still holds its role, in whole seconds, 0 if its
// lease has ended.
func (f *RoleFacts) LeaseLeft() time.Duration {
	if f.HeartbeatAge < 0 || f.HeartbeatAge > f.TTL {
		return 0
	}
	return (f.TTL - f.HeartbeatAge).Truncate(time.Second) + time.Second
}

// Seal is who wrote the seal of a namespace last. Epoch 0 means that it is not known.
type Seal struct {
	Epoch  uint64
	Holder string
}

// Overview judges the answer of a scheduler, and returns it in short.
func (l *List) Overview(namespace string, o *assign.Overview, last Seal) (short string) {
	if last.Epoch != 0 && last.Epoch != o.Epoch {
		l.Add(Warning, "tasks", "check again in a moment; if it persists, check the log of "+o.Scheduler,
			"%s: %s leads at epoch %d, and the seal is still that of %s at epoch %d: the new scheduler stores nothing before "+
				"its own seal",
			namespace, o.Scheduler, o.Epoch, last.Holder, last.Epoch)
	} else if !o.Ready {
		l.Add(Warning, "tasks",
			"check again in a moment; if it persists, find the workers that do not answer: rolectl tasks overview -n "+namespace,
			"%s: %s is still taking over", namespace, o.Scheduler)
	}
	if o.Trouble != "" {
		l.Add(Critical, "tasks", "follow that advice; until then no outcome of a task is stored", "%s: %s", namespace,
			wording.OneLine(o.Trouble))
	}
	open := 0
	for i := range o.Kinds {
		k := &o.Kinds[i]
		open += k.Waiting + k.Delayed + k.Running
		for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
			if text, fix, blocked := Advice(namespace, k.Kind, why); blocked && o.Ready {
				l.Add(Warning, "tasks", fix, "%s: %s of kind %s waiting: %s", namespace,
					wording.Count(k.Reasons[why], "task"), k.Kind, text)
			}
		}
	}
	present, more := 0, ""
	for i := range o.Workers {
		w := &o.Workers[i]
		if w.Session != 0 {
			present++
		}
		if w.Unreachable {
			l.unreached(namespace, o.Scheduler, w)
		}
	}
	if o.Omitted > 0 {
		more = " at least"
	}
	return fmt.Sprintf("%d open, handed out by %s to%s %s", open, o.Scheduler, more, wording.Count(present, "worker"))
}

// unreached judges a worker that messages of the scheduler do not reach.
func (l *List) unreached(namespace, scheduler string, w *assign.WorkerOverview) {
	const fix = "check again in a moment; if it persists, see that it may subscribe to $TASKS.%s.*.work.*.%s, and that " +
		"both halves of each account import and leaf node on the way let these messages and its answers through"
	level, held := Warning, "it is given nothing"
	if w.Load > 0 {
		level, held = Critical, "what it has stays with it until it answers or is stopped"
	}
	l.Add(level, "tasks", fmt.Sprintf(fix, namespace, wording.Clean(w.Instance)),
		"%s: messages of %s do not reach worker %s: %s", namespace, scheduler, w.Instance, held)
}
