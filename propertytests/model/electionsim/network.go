package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// send carries a conditional write over the network. Its reply, or Unknown after the operation
// timeout, reaches the machine; the reply may come once more, whatever the machine was told before.
// The request itself may land long after that, as a publish does that was flushed late.
func (p *process) send(x protocol.Write) {
	w, n := p.w, p.w.plan.Noise
	life, answered := p.life, false
	fate, sentTo, known := &landing{}, p.reaches(), p.m.View().Last()
	p.latest[x.Key] = x.ID
	p.fly(x, 1)
	p.tellGuard(x, 0)
	beat := p.beatsBy(x.Key)
	if beat {
		p.beats[x.ID] = fate
		p.fallMute(x)
	}
	answer := func(ev protocol.Written) {
		if answered || p.life != life {
			return
		}
		answered = true
		p.fly(x, -1)
		p.resolved(x, ev)
		if ev.Outcome == record.Won {
			p.tellGuard(x, ev.Revision)
		}
		p.hand(ev)
		p.checkEnds(x, ev, known)
	}
	w.after(p.lasts(p.cfg.OpTimeout), func() { answer(protocol.Written{ID: x.ID, Outcome: record.Unknown}) })

	delay := w.between(50*time.Microsecond, hop)
	switch {
	case !p.link:
		if w.chance(500) {
			w.after(time.Millisecond, func() { answer(protocol.Written{ID: x.ID, Outcome: record.Unknown}) })
		}
		if !w.chance(n.Late * 4) {
			return
		}
		delay = w.between(0, 6*time.Second)
	case w.chance(n.LostRequest):
		w.Counts.Lost++
		return
	case w.chance(n.Late):
		delay = w.between(p.cfg.OpTimeout, 6*time.Second)
	case w.chance(n.Slow):
		delay = w.between(0, 2*p.cfg.OpTimeout)
	}
	w.after(delay, func() {
		if answered {
			w.Counts.Late++
		}
		to := p.reaches()
		nobody := to.deleted
		c := to.write(w.now, x)
		reply := protocol.Written{ID: x.ID, Outcome: record.Refused}
		switch {
		case to == w.other:
			w.landedElsewhere(&reply, c)
		case c != nil:
			w.late(sentTo, c)
			fate.landed, c.by, c.life = true, p, life
			reply.Outcome, reply.Revision = record.Won, c.entry.Revision
			w.landed(p, x, c)
			w.committed(c)
			w.expireInTime(c, x.TTL)
		default:
			w.late(sentTo, nil)
		}
		back := w.between(50*time.Microsecond, hop)
		switch {
		case w.chance(n.LostReply):
			if c != nil {
				w.Counts.LostAcks++
			}
			return
		case w.chance(n.Slow):
			back = w.between(0, 2*p.cfg.OpTimeout)
		}
		w.after(back, func() {
			switch {
			case p.life != life || !p.link || p.deaf || beat && w.now < p.muteUntil:
			case nobody:
				p.inquire(func(fault error) { answer(protocol.Written{ID: x.ID, Outcome: record.Unknown, Fault: fault}) })
			default:
				answer(reply)
				p.again(x, reply)
			}
		})
	})
}

// again lets an answer come a second time, often when another write of that key is under way. A
// driver that heard it twice would hand it on: the machine has to know it.
func (p *process) again(x protocol.Write, reply protocol.Written) {
	w, life := p.w, p.life
	if !w.chance(w.plan.Noise.Again) {
		return
	}
	w.after(w.between(0, 3*time.Second), func() {
		if p.life != life || !p.link || p.deaf {
			return
		}
		w.Counts.Again++
		if p.latest[x.Key] != x.ID {
			w.Counts.Outdated++
		}
		p.hand(reply)
	})
}

// fallMute begins what Mute is about: with an idle beat, of which its sender is not to know that it
// stands.
func (p *process) fallMute(x protocol.Write) {
	w := p.w
	if p.muteFor == 0 || w.quiet {
		return
	}
	e := record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL)
	if e.Kind != record.KindIdle && e.Lease.State != record.Idle {
		return
	}
	w.Counts.MutedIdle++
	p.muteUntil, p.muteFor = w.now+p.muteFor, 0
	p.blind = max(p.blind, p.muteUntil)
	if p.feed != nil {
		p.feed.stalled = max(p.feed.stalled, p.muteUntil)
	}
}

// cut takes the link away. The process notices after a while, and again when the link is back.
func (p *process) cut(d time.Duration) {
	w, life := p.w, p.life
	if !p.link {
		return
	}
	p.link, p.feed = false, nil
	p.building++
	noticed, healed := false, false
	w.after(w.between(0, time.Second), func() {
		if p.life == life && !healed {
			noticed = true
			p.hand(protocol.Connection{Up: false})
		}
	})
	w.after(d, func() {
		if p.life != life {
			return
		}
		p.link, healed = true, true
		w.after(w.between(0, 100*time.Millisecond), func() {
			if p.life != life {
				return
			}
			if noticed {
				p.hand(protocol.Connection{Up: true})
			}
			if p.link {
				p.rebuild()
			}
		})
	})
}

// question is a control request on its way.
type question struct {
	owner  *process
	life   int
	answer func(protocol.Done)
}

// ask carries a control request to the process that has that instance id, and the answer back;
// either may be lost.
func (p *process) ask(a protocol.Ask) {
	w, life, answered := p.w, p.life, false
	answer := func(ok bool) {
		if !answered && p.life == life {
			answered = true
			p.hand(protocol.Answered{Role: a.Request.Role, Target: a.Instance, OK: ok})
		}
	}
	w.after(3*p.cfg.OpTimeout, func() { answer(false) })
	if !p.link || w.chance(w.plan.Noise.LostRequest) {
		return
	}
	for _, q := range w.members {
		if q.instance == a.Instance && q.alive && q.link {
			w.after(w.between(0, 2*time.Millisecond), func() {
				if !q.alive || !q.link {
					return
				}
				id := w.command(q, func(d protocol.Done) {
					if q.link && p.link && !w.chance(w.plan.Noise.LostReply) {
						w.after(w.between(0, 2*time.Millisecond), func() { answer(d.Err == nil) })
					}
				})
				q.hand(protocol.Asked{ID: id, Request: a.Request})
			})
		}
	}
}

// wake carries a control request that is not answered. It may be lost.
func (p *process) wake(e protocol.Wake) {
	w := p.w
	if !p.link || w.draws.IntN(1000) < w.plan.Noise.LostRequest {
		return
	}
	for _, q := range w.members {
		if q.instance == e.Instance && q.alive && q.link {
			w.after(time.Duration(w.draws.Int64N(int64(2*hop))), func() {
				if q.alive && q.link {
					w.Counts.Woken++
					q.hand(protocol.Asked{ID: w.command(q, func(protocol.Done) {}), Request: e.Request})
				}
			})
		}
	}
}

// command registers what waits for a Done.
func (w *world) command(owner *process, answer func(protocol.Done)) protocol.CommandID {
	w.ids++
	w.commands[w.ids] = &question{owner, owner.life, answer}
	return protocol.CommandID(w.ids)
}
