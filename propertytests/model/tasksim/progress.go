package tasksim

import (
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// saying is a checkpoint that a handler waits for: it makes the next one when this one is stored.
type saying struct {
	r      *handlerRun
	number int
	ran    int64
}

// progress lets a handler make checkpoints now and then, counting on from the one that it was
// given.
func (k *worker) progress(r *handlerRun) {
	if !k.w.chance(0.5) {
		return
	}
	k.p.later(k.w.upTo(k.w.Lease/5), func() {
		if r.over || k.over {
			return
		}
		r.number++
		x := &saying{r, r.number, int64(k.w.now)}
		k.said[r.id] = x
		k.say(x)
	})
}

// say brings a checkpoint to the leader in view.
func (k *worker) say(x *saying) {
	epoch := k.p.epoch
	if epoch == 0 || k.over || k.p.cut {
		return
	}
	of := life{x.r.id, x.r.revision}
	for _, l := range k.w.leads {
		if l.over {
			continue
		}
		k.sends(l, func() {
			if !l.hears(epoch) {
				return
			}
			l.step(tasks.Progressed{
				Session: k.session, ID: x.r.id, Attempt: x.r.attempt, Ran: x.ran, Fraction: 0.5,
				Checkpoint: []byte{byte(x.number >> 8), byte(x.number)},
				Ref: settle(func(stale bool) {
					if !stale {
						k.w.Checkpoints++
						k.w.kept[of] = max(k.w.kept[of], x.number)
					}
					k.w.send(l.p, k.p, func() {
						if !k.over && k.said[x.r.id] == x {
							delete(k.said, x.r.id)
							k.progress(x.r)
						}
					})
				}),
			})
		})
	}
}
