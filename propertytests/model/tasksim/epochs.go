package tasksim

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// epochs is what a process has been shown of who leads since it was started, by the log of the
// bucket and by how much of that its view has: not by what the view makes of it, nor by what a
// worker has taken up.
type epochs struct {
	looked int    // how much of the log was looked through
	top    uint64 // the largest epoch in that
	// the first epoch of that term: a session that is given another one without anybody in between was
	// rotated
	term    uint64
	session uint64
}

// shown is the largest epoch that was ever in the view of a process, in whatever session.
func (p *participant) shown() uint64 {
	for ; p.epochs.looked < p.seen; p.epochs.looked++ {
		if r := p.w.bucket.log[p.epochs.looked]; r.kind == roleRecord {
			if p.epochs.top = r.revision; p.epochs.session != r.session {
				p.epochs.term, p.epochs.session = r.revision, r.session
			}
		}
	}
	return p.epochs.top
}

// accepts checks T3 of a frame by which a worker starts, takes or stops something, or tells what it
// holds: once epoch e was in its view, it accepts nothing below e; and what was not in its view
// yet, no frame makes it believe.
func (k *worker) accepts(f *sentFrame, what, id string) {
	switch top := k.p.shown(); {
	case f.epoch < top:
		k.w.fail("T3: %s/%d %s %s by a frame of epoch %d, after epoch %d was in its view", k.p.name, k.session, what, id,
			f.epoch, top)
	case f.epoch > top:
		k.w.fail("T3: %s/%d %s %s by a frame of epoch %d, and its view has only epoch %d", k.p.name, k.session, what, id,
			f.epoch, top)
	}
}

// starts checks T3 of an attempt: no handler starts for one of an earlier term, whatever frame it
// comes in.
func (k *worker) starts(f *sentFrame, a *tasks.Assignment) {
	k.accepts(f, "starts", a.ID)
	if top := k.p.shown(); a.Attempt.Epoch < k.p.epochs.term {
		k.w.fail("T3: %s/%d starts attempt %v of %s, after epoch %d of another term was in its view", k.p.name, k.session,
			a.Attempt, a.ID, top)
	}
}

// refuses counts a frame that is refused since a later epoch was in view, and what of it would have
// been run.
func (k *worker) refuses(f *sentFrame) {
	if f.epoch >= k.p.shown() {
		return
	}
	k.w.StaleFrames++
	if f.push != nil {
		k.w.StalePushed += len(f.push.List)
	}
}
