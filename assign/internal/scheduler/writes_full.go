package scheduler

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// shortage is what is known of a stream that has no room. Writes that it has refused for that wait for a while; then the
// books hear that they are not stored, and ask for all that is wanted again, under a new seal.
//
// On one server a record that takes the place of one that is not smaller is taken all the same: the outcome of a task with
// a large input is, and so is a seal, since all seals have one size. Replicas count the new record before the old one is
// gone, and take nothing. In either case room comes from outcomes whose time is over, which the server removes, or from
// whoever raises the limit.
type shortage struct {
	list  []uint64 // numbers of writes that wait
	until time.Time
	fails int
	seen  time.Time // when it was seen last
	err   error
}

const (
	shortagePause = 50 * time.Millisecond // doubled each time
	shortageCap   = 5 * time.Second
	shortageOver  = 2 * shortageCap // after so long without another refusal it is over
)

func (s *shortage) waits() bool { return len(s.list) > 0 }

// starve keeps a write that the stream has no room for; on replicas all that would follow it too.
func (c *commits) starve(w *commit, err error) {
	c.full(err)
	s := &c.short
	if !s.waits() {
		s.until = time.Now().Add(min(shortagePause<<min(s.fails-1, 10), shortageCap))
	}
	s.list = append(s.list, w.number)
	if c.batched {
		for i := range c.queue {
			s.list = append(s.list, c.queue[i].number)
		}
		clear(c.queue)
		c.queue = c.queue[:0]
	}
}

func (c *commits) full(err error) { c.trouble(fmt.Errorf("%w (%w)", taskerr.ErrStreamFull, err)) }

// trouble notes that nothing can be stored, or not everything, and says so, ever more seldom.
func (c *commits) trouble(err error) {
	s, now := &c.short, time.Now()
	if now.Sub(s.seen) > shortageOver {
		s.fails = 0
	}
	s.seen, s.err = now, err
	if s.waits() {
		return // one for all that wait together
	}
	if s.fails++; s.fails&(s.fails-1) == 0 {
		c.l.emit(event.Fault{
			Meta: c.l.h.Meta(), Doing: "store what becomes of tasks in " + stream.Name(c.l.cfg.Namespace), Err: s.err, Attempts: s.fails,
		})
	}
}

// tend tells the books of what has waited long enough; it returns how long until something is due here.
func (c *commits) tend(now time.Time) time.Duration {
	s := &c.short
	if !s.waits() {
		return time.Hour
	}
	if wait := s.until.Sub(now); wait > 0 {
		return wait
	}
	list := s.list
	s.list = nil
	for _, number := range list {
		c.tell(number, protocol.Unknown, 0)
	}
	return time.Hour
}

// ails is what keeps outcomes from being stored, as a sentence; "" for nothing.
func (c *commits) ails(now time.Time) string {
	if c.short.err == nil || now.Sub(c.short.seen) > shortageOver {
		return ""
	}
	return c.short.err.Error()
}
