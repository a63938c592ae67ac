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
	builds   map[uint64]string                   // of sessions
}

func (n *neighbours) init() {
	n.sessions, n.fallen, n.builds = map[string]map[tasks.Attempt]uint64{}, map[uint64][]string{}, map[uint64]string{}
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
	w.innocent(id, o)
	if w.Poisons > 0 && !w.Hosts && !w.poison(id) {
		w.fail("%s is dead, and has taken no worker down", id)
	}
	session := w.sessions[id][o.Attempt]
	for _, other := range w.fallen[session] {
		if other != id {
			w.fail("%s is dead for a worker, of session %d, that also ran %s", id, session, other)
		}
	}
}

// suspects counts the suspicions in notes.
func (w *taskWorld) suspects(r *tasks.Retry) {
	if r.Group != 0 {
		w.Suspected++
	}
	if r.Alone {
		w.Alone++
	}
}

const laterBuild = "later"

func (p *participant) build() string {
	if p.former {
		return "former"
	}
	return laterBuild
}

// decodes reports whether a worker can decode the input of what it was handed.
func (k *worker) decodes(a *tasks.Assignment) bool {
	s, _ := k.w.store.submitted(a.ID, a.Revision)
	return !s.fresh || k.w.builds[k.session] == laterBuild
}

// rejection is whether a worker was in the state that could decode an input when it was first heard
// that another one cannot.
type rejection struct {
	attempt tasks.Attempt
	capable bool
}

// decodable is a worker in the state that can decode the input of a task, and may be given it when
// messages reach it.
func (l *lead) decodable(id string) (session uint64, ok bool) {
	s, submitted := l.w.store.record("q." + id).(submission)
	if !submitted {
		return 0, false
	}
	p := s.policy
	for _, o := range l.s.Overview().Workers {
		if z, bound := p.Labels["zone"]; bound && z != zone(o.Instance) || p.Weight > o.Slots {
			continue
		}
		if !o.Draining && !o.Drained && l.w.builds[o.Session] == laterBuild {
			return o.Session, true
		}
	}
	return 0, false
}

func (l *lead) hearsRejection(h tasks.Held, verb tasks.Verb) {
	if known := l.model.rejections[h.ID]; verb == tasks.Undecodable && known.attempt != h.Attempt {
		_, capable := l.decodable(h.ID)
		l.model.rejections[h.ID] = rejection{h.Attempt, capable}
	}
}

// lastRejection checks a task that ends since nobody can decode its input: no known
// worker could when the last one rejected it. Its outcome may be written later.
func (l *lead) lastRejection(e *tasks.WriteOutcome) {
	if e.Outcome.Cause != tasks.CauseUndecodable {
		return
	}
	session, capable := l.decodable(e.ID)
	if last, heard := l.model.rejections[e.ID]; capable && (!heard || last.capable) {
		l.w.fail("%s is dead, and worker %d could decode its input", e.ID, session)
	}
}

// host is the number of the host that a process is on: the first process has one of its own.
func (p *participant) host() int { return (slices.Index(p.w.procs, p) + 1) / 2 }

// shares is what a worker says about it.
func (w *taskWorld) shares(name string) []string {
	if !w.Hosts {
		return nil
	}
	return []string{"host " + string(rune('0'+(int(name[0]-'a')+1)/2))}
}

// loseHosts has a host crash now and then with all that is on it. The one before it is known to be
// lost then.
func (w *taskWorld) loseHosts() {
	if w.Hosts && !w.calm {
		w.after(3*w.Lease+w.upTo(4*w.Lease), func() {
			w.loseHost()
			w.loseHosts()
		})
	}
}

// loseHost has a host crash if a scheduler knows both workers there.
func (w *taskWorld) loseHost() {
	host := 1 + w.rng.IntN(len(w.procs)/2)
	var list []*participant
	for _, p := range w.procs {
		if p.host() == host && p.up && p.session != 0 && slices.ContainsFunc(w.leads, func(l *lead) bool {
			return !l.over && slices.Contains(l.s.Sessions(), p.session)
		}) {
			list = append(list, p)
		}
	}
	if len(list) < 2 {
		return
	}
	w.HostsLost++
	for _, p := range list {
		p.crash()
	}
	if w.Beheaded {
		w.after(3*w.Lease/2+w.upTo(2*w.Lease), w.behead)
	}
}

// behead has the process that leads crash if its state is complete, when some of what runs there
// is being cancelled: of that a later scheduler may not know that it ran.
func (w *taskWorld) behead() {
	for _, l := range w.leads {
		if w.calm || !l.able() || !l.s.Ready() || l.p.work == nil {
			continue
		}
		for _, r := range sorted(l.p.work.runs) {
			if w.chance(0.5) {
				w.askCancel(r.id)
			}
		}
		p := l.p
		w.after(w.upTo(w.Lease/20), func() {
			if p.up && !w.calm {
				w.HeadsLost++
				p.crash()
			}
		})
		return
	}
}

// innocent checks a task that ends for the workers that it has lost, where they were lost with
// their hosts: it was excused for as many of them as it may be blamed for. (A scheduler that has
// taken over from one that was lost may have found less excused.)
func (w *taskWorld) innocent(id string, o *tasks.Outcome) {
	if !w.Hosts || w.Poisons > 0 || w.Beheaded {
		return
	}
	losses := 0
	for _, session := range w.sessions[id] { // also one that it was only sent to
		if w.bucket.dead[session] {
			losses++
		}
	}
	if losses <= w.budget() {
		w.fail("%s is dead at attempt %v after %d workers that were lost with their hosts", id, o.Attempt, losses)
	}
}
