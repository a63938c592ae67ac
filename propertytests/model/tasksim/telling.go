package tasksim

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

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
