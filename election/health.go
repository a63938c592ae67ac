package election

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// startHealth begins the checks of a role that has any: one goroutine for the asking and one for
// the check that runs.
func (e *Election) startHealth() {
	if e.unchecked != nil {
		e.session.checks.Go(e.checkHealth)
	}
}

// checkHealth asks once per heartbeat interval. A check that has not answered by the next one
// counts as failing, and is not asked again until it returns; so a hang is noticed and costs one
// goroutine.
func (e *Election) checkHealth() {
	interval := e.session.cfg.HeartbeatInterval
	tick := time.NewTicker(interval)
	defer tick.Stop()
	answers := make(chan bool, 1) // one check at a time
	asking, panics, failures, healthy := false, false, 0, true
	count := func(ok bool) {
		if failures++; ok {
			failures = 0
		}
		if now := failures < e.cfg.MaxConsecutiveFailures; now != healthy {
			healthy = now
			e.session.post(protocol.Health{Role: e.cfg.Role, Healthy: healthy})
		}
	}
	for {
		if !asking {
			asking = true
			e.session.checks.Go(func() {
				var ok bool
				ok, panics = e.checkOnce(interval, panics)
				answers <- ok
			})
		}
		select {
		case <-e.unchecked.Done():
			return
		case ok := <-answers:
			asking = false
			count(ok)
			select {
			case <-tick.C:
			case <-e.unchecked.Done():
				return
			}
		case <-tick.C:
			count(false)
		}
	}
}

// checkOnce asks the checker. A panic is a failure; the first of several in a row is reported.
func (e *Election) checkOnce(timeout time.Duration, reported bool) (ok, panicked bool) {
	ctx, cancel := context.WithTimeout(e.unchecked, timeout)
	defer cancel()
	value, stack := rescue(func() { ok = e.cfg.Health.Check(ctx) })
	if stack == nil {
		return ok, false
	}
	if !reported {
		e.session.emit(event.CallbackPanicked{
			Meta: e.session.meta(), Role: e.cfg.Role, Callback: "Health",
			Value: value, Stack: stack,
		})
	}
	return false, true
}
