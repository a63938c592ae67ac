package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// worker is one session's worker: the real rules behind a follower's checks.
type worker struct {
	w       *taskWorld
	p       *participant
	session uint64
	m       *workers.Worker
	runs    map[string]*handlerRun
	results map[string]tasks.Held // what is not settled, with its attempt
	verbs   map[string]tasks.Result
	said    map[string]*saying // checkpoints that are not settled
	frame   *sentFrame         // the one that is being taken
	lease   standing
	telling *workers.Telling
	word    *tasks.Told // what it says in its member record
	over    bool
}

type handlerRun struct {
	id       string
	attempt  tasks.Attempt
	revision uint64
	number   int  // of its last checkpoint
	mortal   bool // its task has a deadline
	outlives bool // the bucket of its session
	over     bool
}

// sentFrame is what a scheduler sends. Signatures are beyond this model: it names its sender truly.
type sentFrame struct {
	lead    *lead
	epoch   uint64
	term    uint64
	session uint64
	push    *tasks.Assign
	stop    *tasks.Stop
	saved   map[string]int // checkpoints of what is pushed
}

func newWorker(p *participant) *worker {
	k := &worker{
		w: p.w, p: p, session: p.session, runs: map[string]*handlerRun{}, results: map[string]tasks.Held{},
		verbs:   map[string]tasks.Result{},
		said:    map[string]*saying{},
		lease:   standing{worked: p.w.now},
		telling: workers.NewTelling(2 * p.w.Lease / 5),
		m:       workers.New(workers.Config{Slots: p.w.Slots, Kinds: kinds, MaxOutbox: 64}),
	}
	p.later(k.w.Lease/2, k.resend)
	return k
}

// take looks at a frame by the rules of a follower. One from an epoch that is not in view yet waits
// a moment.
func (k *worker) take(f sentFrame, waited time.Duration) {
	p := k.p
	if k.over || !p.up || p.cut || p.session != k.session {
		return
	}
	us := frame.Addressee{Session: k.session, Epoch: p.epoch, Highest: p.highest, Open: p.open}
	switch us.Judge(&frame.Envelope{Epoch: f.epoch, Term: f.term, Session: f.session}, func() bool { return true }) {
	case frame.Later:
		if waited < k.w.Lease/2 {
			p.later(k.w.Lease/50, func() { k.take(f, waited+k.w.Lease/50) })
		}
		return
	case tasks.StaleEpoch:
		k.w.Rejected++
		k.refuses(&f)
		if f.push != nil { // it can never be accepted later
			answers := make([]tasks.Answer, len(f.push.List))
			for i, a := range f.push.List {
				answers[i] = tasks.Answer{ID: a.ID, Attempt: a.Attempt, Verdict: tasks.StaleEpoch}
			}
			k.answer(f, answers)
		}
		return
	case tasks.Foreign:
		k.w.Rejected++
		return
	case tasks.NotReady:
		return
	}
	k.frame = &f
	switch {
	case f.push != nil:
		if !k.wakes() {
			return
		}
		k.heard(&f)
		k.step(workers.Received{Term: f.term, Low: f.push.Low, List: f.push.List, Ref: f})
	case f.stop != nil:
		k.accepts(&f, "stops", f.stop.ID)
		k.heard(&f)
		k.step(workers.StopOrder{
			Term: f.term, ID: f.stop.ID, Attempt: f.stop.Attempt, Serial: f.stop.Serial,
			Status: f.stop.Status,
		})
		l, stop := f.lead, f.stop
		k.sends(l, func() { l.step(tasks.Stopped{Session: k.session, ID: stop.ID, Attempt: stop.Attempt}) })
	default:
		k.accepts(&f, "answers", "a sync")
		l, held, beside := f.lead, k.m.Holding(), k.m.Beside(nil)
		k.sends(l, func() {
			l.step(tasks.Synced{Session: k.session, Held: held, Beside: beside})
			k.w.send(l.p, p, func() { k.heard(&f) })
		})
	}
}

func (k *worker) answer(f sentFrame, answers []tasks.Answer) {
	l, number := f.lead, f.push.Frame
	for _, a := range answers {
		if a.Verdict != tasks.Accepted {
			k.w.Rejected++
		} else {
			k.accepts(&f, "takes", a.ID)
		}
	}
	k.sends(l, func() { l.step(tasks.Answered{Session: f.session, Frame: number, Answers: answers}) })
}

func (k *worker) step(ev workers.Event) {
	for _, e := range k.m.Step(ev, nil) {
		switch e := e.(type) {
		case workers.Reply:
			k.answer(e.Ref.(sentFrame), e.Answers)
		case workers.Start:
			k.start(e.Assignment)
		case workers.Halt:
			if r := k.runs[e.ID]; r != nil && r.attempt == e.Attempt {
				k.w.stopped(r, e.Status)
				k.p.later(k.returns(r), func() { k.end(r, tasks.Result{Verb: tasks.Failed}) })
			}
		case workers.Report:
			k.results[e.ID] = tasks.Held{ID: e.ID, Attempt: e.Attempt}
			k.report(e.ID)
		case workers.Forget:
			if k.results[e.ID].Attempt == e.Attempt {
				delete(k.results, e.ID)
				k.lease.worked = k.w.now
			}
		}
	}
}

func (k *worker) start(a tasks.Assignment) {
	r := &handlerRun{
		id: a.ID, attempt: a.Attempt, revision: a.Revision, number: k.frame.saved[a.ID],
		mortal: a.Left > 0, outlives: k.w.gone(k.session),
	}
	k.runs[a.ID] = r
	k.starts(k.frame, &a)
	k.w.tell(a.ID, "%s/%d starts %v", k.p.name, k.session, a.Attempt)
	k.w.begins(r, k.p.name)
	if k.w.poison(a.ID) {
		k.p.later(time.Millisecond, func() {
			if !r.over {
				k.p.crash()
			}
		})
		return
	}
	if !k.decodes(&a) {
		k.w.Undecoded++
		k.p.later(time.Millisecond, func() { k.end(r, tasks.Result{Verb: tasks.Undecodable}) })
		return
	}
	k.progress(r)
	effort := k.w.effort()
	if effort > k.w.Lease && k.w.chance(0.1) { // a cancel at random hardly ever meets one that runs
		k.w.after(k.w.upTo(k.w.Lease/2), func() { k.w.askCancel(a.ID) })
	}
	k.p.later(effort, func() { k.end(r, k.w.result()) })
	if a.Left > 0 {
		k.p.later(a.Left, func() { k.end(r, tasks.Result{Verb: tasks.Overdue}) })
	}
}

// returns is how long a handler that was told to stop runs on. A stubborn one outlasts what is said
// of its task meanwhile, which may run elsewhere.
func (k *worker) returns(r *handlerRun) time.Duration {
	if !k.w.Stubborn || !k.w.chance(0.5) {
		return k.w.upTo(k.w.Lease / 20)
	}
	k.w.outstays(r)
	return 20 * k.w.Lease
}

// end is the return of a handler.
func (k *worker) end(r *handlerRun, result tasks.Result) {
	if r.over {
		return
	}
	r.over = true
	delete(k.said, r.id)
	k.w.tell(r.id, "%s/%d ends %v: %v", k.p.name, k.session, r.attempt, result.Verb)
	k.w.ends(r, result.Verb)
	if k.runs[r.id] == r {
		delete(k.runs, r.id)
	}
	k.verbs[r.id] = result
	if result.Verb == tasks.Released {
		k.finish()
	}
	k.step(workers.Ended{ID: r.id, Attempt: r.attempt})
}

// leave drains the worker and closes the session; another one is opened.
func (k *worker) leave() {
	k.step(workers.Drain{})
	p := k.p
	p.later(k.w.Lease/4+k.w.upTo(k.w.Lease/2), func() {
		switch {
		case p.session != k.session:
		case p.cut, k.w.Rest > 0 && len(k.runs)+len(k.results) > 0: // cleanly, what runs ends first, and is heard of
			k.leave()
		default:
			if p.term != nil {
				p.term.rest()
			}
			p.lapse()
			k.w.close(p, k.session)
			p.rejoin()
		}
	})
}

// finish says that the session is about to be closed, and leaves.
func (k *worker) finish() {
	if !k.w.gone(k.session) {
		k.w.bucket.log[k.w.append(memberRecord, k.p, k.session)-1].draining = true // nobody has read it yet
	}
	k.leave()
}

// abandon is the end of belief: every handler is cancelled, and nothing of it counts.
func (k *worker) abandon() {
	_, k.lease.idle = k.rest()
	k.lease.stands = true
	k.over = true
	k.w.fell(k)
	for _, r := range sorted(k.runs) {
		if !r.over {
			r.over = true
			k.w.tell(r.id, "%s/%d abandons %v", k.p.name, k.session, r.attempt)
			k.w.ends(r, tasks.Failed)
		}
	}
}

// report brings one result to the leader in view.
func (k *worker) report(id string) {
	h, ok := k.results[id]
	epoch, result := k.p.epoch, k.verbs[id]
	if !ok || epoch == 0 || k.over || k.p.cut {
		return
	}
	for _, l := range k.w.leads {
		if l.over {
			continue
		}
		k.sends(l, func() {
			if !l.hears(epoch) { // meant for another scheduler
				return
			}
			l.hearsRejection(h, result.Verb)
			l.step(tasks.Done{Session: k.session, ID: h.ID, Attempt: h.Attempt, Result: result, Ref: settle(func(stale bool) {
				if !stale && result.Verb == tasks.Failed {
					k.w.failed(h.ID, h.Attempt)
				}
				k.w.send(l.p, k.p, func() {
					if !k.over {
						k.step(workers.Acked{ID: h.ID, Attempt: h.Attempt})
					}
				})
			})})
		})
	}
}

type settle func(stale bool)

// resend reports again what is not settled.
func (k *worker) resend() {
	if k.over {
		return
	}
	k.newLeader()
	k.p.later(k.w.Lease/4+k.w.upTo(k.w.Lease/4), k.resend)
}

func (k *worker) newLeader() {
	for _, h := range sorted(k.results) {
		k.report(h.ID)
	}
	for _, x := range sorted(k.said) {
		k.say(x)
	}
}

// follows notes that somebody else leads in the view, or the same one at another epoch.
func (k *worker) follows() {
	if k.p.epoch <= k.session { // that one has known of us from its beginning
		return
	}
	k.telling.Lead(k.p.instant())
	k.p.later(k.telling.Due().Sub(k.p.instant()), k.tells)
}

// heard notes that the scheduler in view does not wait for what we hold.
func (k *worker) heard(f *sentFrame) {
	if f.epoch == k.p.epoch {
		k.telling.Heard()
	}
}

// tells writes into the member record what the worker holds, if nobody has confirmed to have heard
// it. The write is under way for a while.
func (k *worker) tells() {
	if k.over || k.p.session != k.session || k.p.epoch == 0 || !k.telling.Tell(k.p.instant()) {
		return
	}
	k.word = &tasks.Told{Session: k.session, Epoch: k.p.epoch, Held: k.m.Holding(), Beside: k.m.Beside(nil)}
	k.writes(k.word)
}

// writes brings a word to the bucket, as often as that takes: the session lives only while it can
// write there. One write at a time is under way, so the last word stands.
func (k *worker) writes(word *tasks.Told) {
	w := k.w
	w.after(w.travel(), func() {
		switch {
		case k.word != word, w.bucket.dead[k.session], w.gone(k.session):
		case k.p.cut && k.p.session == k.session:
			k.writes(word)
		case !k.p.cut:
			w.Words++
			w.bucket.log[w.append(toldRecord, k.p, k.session)-1].told = word // nobody has read it yet
		}
	})
}

// sends carries a message of a worker to a scheduler, unless what the process says there is lost.
func (k *worker) sends(l *lead, deliver func()) {
	if k.p.deaf == mute {
		k.w.Unheard++
		return
	}
	k.w.send(k.p, l.p, deliver)
}
