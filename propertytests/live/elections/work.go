package elections

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Work is how the work of a process behaves. The zero value runs until its context ends, and
// returns at once.
type Work struct {
	// Drain is how long it may take to return after its context has ended; each time something up to
	// it is drawn.
	Drain time.Duration
	// StuckOneIn is the chance (1 in so many, 0 never) that it ignores its context for three times
	// DrainTimeout.
	StuckOneIn int
	// FailOneIn is the chance that it returns by itself within a minute: nil, an error, or a panic.
	FailOneIn int
	// Do, when set, is called instead of waiting for the context's end.
	Do func(ctx context.Context, t *election.Term) error
}

// roleWorker is the work of one process in one role, with the callbacks beside it.
type roleWorker struct {
	p        *Process
	role     string
	election *election.Election

	promotes, demotes, running atomic.Int64 // running counts bodies of lead
}

var errWork = errors.New("arena: the work failed")

// lead is the work: it writes down when it was begun, when its context ended, and when it returned.
func (w *roleWorker) lead(ctx context.Context, t *election.Term) (err error) {
	p, ledger := w.p, w.p.a.Ledger
	if !p.enter() {
		return nil
	}
	defer p.bodies.Done()
	if w.running.Add(1) > 1 {
		ledger.violated("E4: %s: the work of %s is begun while that of the last term still runs", p, w.role)
	}
	deadline := time.Now().Add(bridge.TrustedFor(p.Session))
	if !t.Valid() {
		deadline = t.Since() // it may be that of the next session
	}
	h := ledger.Promoted(p.String(), w.role, bridge.Number(p.Session), t.Epoch(), t.Since(), deadline)
	defer func() {
		w.running.Add(-1)
		ledger.drained(h, time.Now())
	}()
	end, drain, fail := p.drawWork()
	var ends <-chan time.Time
	if end > 0 {
		timer := time.NewTimer(end)
		defer timer.Stop()
		ends = timer.C
	}
	if do := p.Work.Do; do != nil {
		unbind := context.AfterFunc(ctx, func() { ledger.Ended(h, time.Now(), context.Cause(ctx)) })
		if err = do(ctx, t); unbind() {
			ledger.Ended(h, time.Now(), election.ErrWorkEnded)
		}
		return err
	}
	select {
	case <-ends:
		ledger.Ended(h, time.Now(), election.ErrWorkEnded)
		return fail()
	case <-ctx.Done():
	}
	ledger.Ended(h, time.Now(), context.Cause(ctx))
	if t.Valid() {
		ledger.violated("E4: %s: the work context of %s at epoch %d has ended, and the term is still valid", p, w.role,
			t.Epoch())
	}
	time.Sleep(drain)
	return nil
}

// drawWork says when the work ends by itself (0: not), how long it drains, and how it ends by
// itself.
func (p *Process) drawWork() (end, drain time.Duration, fail func() error) {
	p.draw(func(rng *rand.Rand) {
		if w := p.Work; w.Drain > 0 {
			drain = time.Duration(rng.Int64N(int64(w.Drain)))
		}
		if w := p.Work; w.StuckOneIn > 0 && rng.IntN(w.StuckOneIn) == 0 {
			drain = 3 * p.Session.Config().DrainTimeout
		}
		if w := p.Work; w.FailOneIn > 0 && rng.IntN(w.FailOneIn) == 0 {
			end = time.Duration(1 + rng.Int64N(int64(time.Minute)))
		}
		fail = [...]func() error{
			func() error { return nil }, func() error { return errWork }, func() error { panic(errWork) },
		}[rng.IntN(3)]
	})
	return end, drain, fail
}

func (w *roleWorker) promoted(ctx context.Context, t fencing.Token) {
	if before, n := w.demotes.Load(), w.promotes.Add(1); n != before+1 {
		w.p.a.Ledger.violated("E4: %s: promotion %d of %s comes after %d demotions", w.p, n, w.role, before)
	}
	if f := w.p.OnPromote; f != nil {
		f(ctx, t)
		return
	}
	<-ctx.Done()
}

func (w *roleWorker) demoted() {
	if !w.p.enter() {
		return
	}
	defer w.p.bodies.Done()
	if f := w.p.OnDemote; f != nil {
		defer f()
	}
	if n := w.demotes.Add(1); n != w.promotes.Load() {
		w.p.a.Ledger.violated("E4: %s: demotion %d of %s comes after %d promotions", w.p, n, w.role, w.promotes.Load())
	}
	if w.election.IsLeader() {
		w.p.a.Ledger.violated("E4: %s: leads %s while OnDemote runs", w.p, w.role)
	}
}
