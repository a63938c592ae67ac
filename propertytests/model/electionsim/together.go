package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// writeAll carries out conditional writes together: all, or none, for which it returns nil. Others
// may write between them, as far as a client can tell.
func (s *store) writeAll(w *world, writes []protocol.Write) (all []*commit) {
	for _, x := range writes {
		if s.deleted || s.last(x.Key) != x.Expect {
			return nil
		}
	}
	for _, x := range writes {
		all = append(all, s.put(w.now, x.Key, x.Value, x.Delete))
		if w.draws.IntN(3) == 0 {
			w.committed(s.put(w.now, "probe.another", nil, false))
		}
	}
	return all
}

// sendTogether carries writes over the network together, as send does one. Now and then the store
// refuses them though every condition holds: another write of one of the keys is on its way, or the
// server has too many such writes.
func (p *process) sendTogether(e protocol.WriteTogether) {
	w, n := p.w, p.w.plan.Noise
	life, answered := p.life, false
	sentTo := p.reaches()
	for _, x := range e.Writes {
		p.latest[x.Key] = x.ID
	}
	w.Counts.Together++
	answer := func(ev protocol.WrittenTogether) {
		if answered || p.life != life {
			return
		}
		answered = true
		for _, x := range e.Writes {
			p.resolved(x, protocol.Written{ID: x.ID, Outcome: ev.Outcome})
		}
		p.apart(e, ev.Outcome)
		p.hand(ev)
	}
	unknown := protocol.WrittenTogether{ID: e.ID, Outcome: record.Unknown}
	w.after(p.lasts(p.cfg.OpTimeout), func() { answer(unknown) })

	delay := w.between(50*time.Microsecond, hop)
	switch {
	case !p.link || w.chance(n.LostRequest*3):
		w.Counts.Lost++
		return
	case w.chance(n.Late * 3):
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
		var all []*commit
		if !w.chance(100) {
			all = to.writeAll(w, e.Writes)
		}
		reply := protocol.WrittenTogether{ID: e.ID, Outcome: record.Refused}
		for i, c := range all {
			reply.Outcome, reply.Revision = record.Won, c.entry.Revision
			if to == w.other {
				w.landedElsewhere(&protocol.Written{}, c)
				continue
			}
			w.late(sentTo, c)
			c.by, c.life = p, life
			w.landed(p, e.Writes[i], c)
			w.committed(c)
		}
		if all == nil && to != w.other {
			w.late(sentTo, nil)
		}
		back := w.between(50*time.Microsecond, hop)
		switch {
		case w.chance(n.LostReply * 3):
			if all != nil {
				w.Counts.LostAcks++
				w.Counts.TogetherUnheard++
			}
			return
		case w.chance(n.Slow):
			back = w.between(0, 2*p.cfg.OpTimeout)
		}
		w.after(back, func() {
			switch {
			case p.life != life || !p.link || p.deaf:
			case nobody:
				p.inquire(func(fault error) {
					answer(protocol.WrittenTogether{ID: e.ID, Outcome: record.Unknown, Fault: fault})
				})
			default:
				answer(reply)
			}
		})
	})
}

// checkTogether: claims that go together are on keys of which nothing else of this process is on
// its way, and none of them is one of which, together with others, nothing was known.
func (p *process) checkTogether(e protocol.WriteTogether) {
	w := p.w
	for _, x := range e.Writes {
		p.checkWrite(x)
		r := record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL).Role
		if most, halved := p.halved[r.Token]; halved && len(e.Writes) > most {
			w.violate("F1: %s claims %s among %d after it was refused among %d", p, x.Key, len(e.Writes), 2*most)
		}
		if p.lonely[r.Token] {
			w.violate("F1: %s claims %s together with others, though nothing is known of the last time", p, x.Key)
		}
		if p.flying[x.Key] > 0 {
			w.violate("F1: %s claims %s together with others, and another write of it is on its way", p, x.Key)
		}
	}
	if p.flies != 0 {
		w.violate("F1: %s sends claims together, and others are on their way", p)
	}
	p.flies = e.ID
	for _, x := range e.Writes {
		p.flown[x.Key] = true
	}
	w.Counts.TogetherClaims += len(e.Writes)
}

// apart takes in that claims which went together are answered.
func (p *process) apart(e protocol.WriteTogether, o record.Outcome) {
	p.flies = 0
	clear(p.flown)
	switch o {
	case record.Won:
		clear(p.halved)
		return
	case record.Refused:
		p.w.Counts.TogetherRefused++
	case record.Unknown:
		p.w.Counts.TogetherUnknown++
	}
	for _, x := range e.Writes {
		if token := record.Decode(x.Key, x.Value, 0, x.Delete, MaxTTL).Role.Token; o == record.Unknown {
			p.lonely[token] = true
		} else {
			p.halved[token] = len(e.Writes) / 2
		}
	}
}

// fly notes a single write of a role that is on its way, until it is answered. None meets claims
// that went together.
func (p *process) fly(x protocol.Write, d int) {
	if kind, _, _ := record.ParseKey(x.Key); kind != record.KindRole {
		return
	}
	if p.flying[x.Key] += d; d > 0 && p.flown[x.Key] {
		p.w.violate("F1: %s writes %s, which it claims together with others", p, x.Key)
	}
}
