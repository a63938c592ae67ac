package election

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
)

// startHealth begins the checks of a role that has any: one goroutine for the asking and one for
// the check that runs.
func (e *Election) startHealth() {
	if e.cfg.Health != nil {
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
	asking, failures, healthy := false, 0, true
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
			e.session.checks.Go(func() { answers <- e.checkOnce(interval) })
		}
		select {
		case <-e.Done():
			return
		case ok := <-answers:
			asking = false
			count(ok)
			select {
			case <-tick.C:
			case <-e.Done():
				return
			}
		case <-tick.C:
			count(false)
		}
	}
}

// checkOnce asks the checker; a panic is a failure.
func (e *Election) checkOnce(timeout time.Duration) (ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, stack := rescue(func() { ok = e.cfg.Health.Check(ctx) })
	return ok && stack == nil
}
