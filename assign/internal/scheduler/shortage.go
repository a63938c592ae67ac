package scheduler

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
)

// shortage knows whether the stream has room. A write that the stream has refused for lack of room
// waits for a while. Then the rules learn that it is not stored, and ask again, under a new seal,
// for all that they want.
//
// On one server, a record may replace one that is not smaller even then. So the outcome of a task
// with a large input is stored, and so is a seal, since all seals have one size. Replicas count the
// new record before the old one is gone, and take nothing. In either case there is room again when
// the server removes outcomes whose time is over, or when somebody raises the limit.
type shortage struct {
	*term
	emit func(event.Event)

	list  []uint64 // numbers of writes that wait
	until time.Time
	fails int
	seen  time.Time // the last refusal
	err   error
}

const (
	shortagePause = 50 * time.Millisecond // doubled each time
	shortageCap   = 5 * time.Second
	shortageOver  = 2 * shortageCap // after so long without a refusal the shortage is over
)

func (s *shortage) waits() bool { return len(s.list) > 0 }

// deferWrite keeps the number of a write until the pause is over.
func (s *shortage) deferWrite(number uint64) {
	if !s.waits() {
		s.until = time.Now().Add(min(shortagePause<<min(s.fails-1, 10), shortageCap))
	}
	s.list = append(s.list, number)
}

// due returns the writes that have waited long enough, and the time until it is due again.
func (s *shortage) due(now time.Time) ([]uint64, time.Duration) {
	if !s.waits() {
		return nil, time.Hour
	}
	if wait := s.until.Sub(now); wait > 0 {
		return nil, wait
	}
	list := s.list
	s.list = nil
	return list, time.Hour
}

func (s *shortage) full(err error) { s.trouble(fmt.Errorf("%w (%w)", taskerr.ErrStreamFull, err)) }

// trouble notes that some or all writes cannot be stored. It reports that at growing intervals.
func (s *shortage) trouble(err error) {
	now := time.Now()
	if now.Sub(s.seen) > shortageOver {
		s.fails = 0
	}
	s.seen, s.err = now, err
	if s.waits() {
		return // one report for all that wait together
	}
	if s.fails++; s.fails&(s.fails-1) == 0 {
		s.emit(event.Fault{
			Meta: s.host.Meta(), Doing: "store what becomes of tasks in " + s.stream.Name(), Err: s.err,
			Attempts: s.fails,
		})
	}
}

// sentence says what keeps outcomes from being stored; it is "" if nothing does.
func (s *shortage) sentence(now time.Time) string {
	if s.err == nil || now.Sub(s.seen) > shortageOver {
		return ""
	}
	return s.err.Error()
}
