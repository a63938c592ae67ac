package storms_test

import (
	"testing"
	"time"
)

// played is what a test has come to; a storm that has failed counts as far as it came. the command
// schedules reads it.
type played struct{ Storms, Seconds, Faults, Terms int }

// add counts a storm that began at a moment of its bubble, and ends now.
func (p *played) add(began time.Time, faults, terms int) {
	p.Storms++
	p.Seconds += int(time.Since(began) / time.Second)
	p.Faults += faults
	p.Terms += terms
}

// tell is deferred: a test that fails says it too.
func (p *played) tell(t *testing.T) { t.Logf("%+v", *p) }
