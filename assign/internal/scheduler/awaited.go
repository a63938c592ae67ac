package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// awaited reports, at intervals, the workers that everything waits for: without that, a worker that lives but
// cannot be reached would hold up all tasks in silence.
type awaited struct {
	*term
	emit     func(event.Event)
	reported time.Time
	times    int
}

// lateEvery is the interval between two reports that nothing is handed out yet.
const lateEvery = 10 * time.Second

// errAwaited is why nothing is handed out.
var errAwaited = errors.New("nothing is handed out before these workers have said what they hold, or their sessions have ended: " +
	"see whether they may be asked and may answer, or stop them")

func (a *awaited) publish() {
	now := time.Now()
	if a.rules.Ready() || now.Sub(a.reported) < lateEvery {
		return
	}
	const most = 8
	if all := a.rules.Awaited(most); len(all) > 0 {
		a.reported = now
		a.times++
		a.emit(event.Fault{
			Meta: a.host.Meta(), Doing: "begin to hand out tasks", Err: fmt.Errorf("%w: %s", errAwaited, strings.Join(all, ", ")), Attempts: a.times,
		})
	}
}
