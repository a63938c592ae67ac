package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// feed is one watch: a snapshot, maybe of a replica that lags, then every commit in order, each
// with its delay. A commit that was overwritten before it was delivered may be skipped, since the
// bucket keeps one value.
type feed struct {
	p       *process
	in      *store // the bucket that it is a watch of
	next    int    // in the log
	pumping bool
	stalled time.Duration // delivers nothing until then
	dead    bool
	wide    bool // it is of every key
	own     bool // and of our own idle beats
}

// rebuild makes a new watch after a while; one that is being made is enough.
func (p *process) rebuild() {
	p.feed = nil
	p.rebuilds++
	p.rewatch()
}

// rewatch makes a new watch after a while; the present one continues until then.
func (p *process) rewatch() {
	w := p.w
	p.building++
	building, life := p.building, p.life
	delay := w.between(2*time.Millisecond, watching)
	if w.chance(w.plan.Noise.SlowWatch) {
		delay = w.between(0, 2*time.Second)
	}
	w.after(delay, func() {
		if p.life != life || p.building != building || !p.link {
			return // with the link it is tried again
		}
		if w.now < p.blind {
			p.rebuild()
			return
		}
		p.attach()
	})
}

func (p *process) watch() {
	w := p.w
	in := w.store
	if w.stray != nil && w.rng.IntN(3) == 0 {
		in = w.stray
	}
	rev, first := in.next()-1, in.first
	if !in.single && w.chance(w.plan.Noise.Lag) {
		rev -= min(uint64(w.rng.IntN(30)), rev-first+1)
		w.Counts.Lagging++
	}
	f := &feed{p: p, in: in, next: int(rev - first + 1), wide: p.plan.Wide || p.width.All, own: p.width.OwnIdle}
	p.feed = f
	w.Counts.Watches++
	last := rev // by the word of a leader that does not know yet that it is none
	if rev%3 == 0 {
		last = in.next() - 1 // or of one that takes this replica to be up to date
	}
	reset := protocol.WatchReset{
		Wide: f.wide, OwnIdle: f.own, Known: p.m.View().Last(), Begun: p.now(w.now).Observer,
		Told: true, Single: in.single, Last: last,
		Behind: rev < in.next()-1 && rev%2 == 0, // which may have noticed that it is cut off, or not
	}
	if w.stray != nil {
		reset.Last, reset.Behind = w.store.next()-1, true
	}
	p.hear(reset)
	for _, c := range in.snapshot(rev) {
		if f.shows(c) {
			p.hear(protocol.Delivered{Entry: &c.entry})
		}
	}
	p.hear(protocol.SnapshotDone{})
	f.pump()
}

// shows reports whether the filters of the watch select a key.
func (f *feed) shows(c *commit) bool {
	switch e := &c.entry; e.Kind {
	case record.KindRole, record.KindSteer:
		return true
	case record.KindLease, record.KindMember:
		return e.Peer.Class == record.Candidate || f.wide || e.Peer == f.p.peer()
	case record.KindIdle:
		return f.wide || f.own && e.Peer == f.p.peer()
	}
	return false
}

// missHeartbeats ends a watch that shows nothing, not even the server's heartbeats: a driver asks
// for three of them in a lease, and makes a new watch when two are missing.
func (f *feed) missHeartbeats() {
	p := f.p
	p.w.after(p.lasts(2*p.cfg.TTL/3), func() {
		if p.feed == f && (f.dead || p.w.now < f.stalled) {
			p.rebuild()
		}
	})
}

// pump schedules the next delivery.
func (f *feed) pump() {
	w, log := f.p.w, f.in.log
	for f.next < len(log) && !f.shows(log[f.next]) {
		f.next++
	}
	if f.pumping || f.dead || f.p.feed != f || f.next >= len(log) {
		return
	}
	delay := w.between(100*time.Microsecond, delivery)
	if w.chance(w.plan.Noise.SlowWatch) {
		delay = w.between(0, 800*time.Millisecond)
	}
	f.pumping = true
	w.at(max(log[f.next].at+delay, f.stalled, w.now), f.deliver)
}

func (f *feed) deliver() {
	w := f.p.w
	f.pumping = false
	if f.p.feed != f || f.dead || !f.p.alive {
		return
	}
	if w.now < f.stalled {
		f.pump()
		return
	}
	for f.next < len(f.in.log) && f.in.log[f.next].at <= w.now {
		c := f.in.log[f.next]
		f.next++
		past := f.in.keys[c.key]
		if past[len(past)-1] != c && w.chance(w.plan.Noise.Skip) {
			w.Counts.Skipped++
			continue
		}
		if f.shows(c) {
			f.p.hear(protocol.Delivered{Entry: &c.entry})
			break
		}
	}
	f.pump()
}

// committed tells every watch that there is something new, if there is.
func (w *world) committed(c *commit) {
	if c == nil {
		return
	}
	w.trace.add(w.now, nil, "commit", c)
	for _, p := range w.members {
		if p.feed != nil {
			p.feed.pump()
		}
	}
	if w.expiring == c.key && c.entry.Form == record.FormRecord {
		w.expiring = ""
		w.after(w.between(0, 2*time.Millisecond), func() { w.expire(c.key) })
	}
	w.even.saw(w, c)
	w.checkFailBacks(c)
	w.claimUnseen(c)
	w.doomedBy(c)
}

// sees notes up to when the machine has been shown what was written, which a paused one is not yet.
func (p *process) sees(e *record.Entry) {
	for _, in := range []*store{p.w.store, p.opened, p.w.stray, p.w.other} {
		if in == nil {
			continue
		}
		if c := in.at(e.Revision); c != nil && &c.entry == e {
			p.shownAt = max(p.shownAt, c.at)
			return
		}
	}
}
