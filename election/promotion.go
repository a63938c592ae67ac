package election

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/fencing"
)

// entering is how long a call of OnPromote is given to reach its first instruction before OnDemote
// may run.
const entering = 5 * time.Millisecond

// promotion keeps OnDemote behind the OnPromote that it ends. OnPromote may block for the whole
// term, so that nobody can wait for its return; and a term may end before the goroutine that calls
// it has run at all: then neither is called.
type promotion struct {
	made     time.Time
	called   atomic.Int64  // how long after made OnPromote was called, in ns from 1 on; 0 not yet, notAtAll
	returned chan struct{} // closed when it has returned
}

const notAtAll = -1

func newPromotion() *promotion { return &promotion{made: time.Now(), returned: make(chan struct{})} }

// call calls OnPromote, unless its term has ended, and reports whether it did.
func (p *promotion) call(ctx context.Context, token fencing.Token, f func(context.Context, fencing.Token)) bool {
	defer close(p.returned)
	called := p.called.CompareAndSwap(0, 1+int64(time.Since(p.made)))
	if called {
		f(ctx, token)
	}
	return called
}

// end is called when the term has ended. It reports whether OnDemote is to run, which it may when
// end has returned.
func (p *promotion) end() bool {
	if p.called.CompareAndSwap(0, notAtAll) {
		return false
	}
	wait := entering - (time.Since(p.made) - time.Duration(p.called.Load()))
	if wait <= 0 { // all terms but the shortest
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-p.returned:
	case <-timer.C:
	}
	return true
}
