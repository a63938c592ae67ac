package tasks

import (
	"testing"
	"time"
)

// TestUnanswered: a worker that has not answered a sync or a push for the time of silence is told
// of, once in each such time, so that its session is ended if it is idle. Nothing is handed out for
// that alone. Any answer begins the time again. The scheduler's own worker is left alone.
func TestUnanswered(t *testing.T) {
	const silence = 400 * time.Millisecond
	begin := func(own bool) *driver {
		b := newDriver(t)
		b.s.cfg.Silence = silence
		b.read()
		m := member(5)
		m.Own = own
		b.step(Members{List: []Member{m}})
		return b
	}
	told := func(b *driver, d time.Duration) (n int) {
		for range d / (10 * time.Millisecond) {
			if e, ok := find[Unanswered](b.pass(10 * time.Millisecond)); ok {
				if n++; e.Session != 5 || e.Instance != "w5" {
					t.Errorf("told of %+v", e)
				}
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		begin func() *driver
		told  int
	}{
		"a sync":            {func() *driver { return begin(false) }, 2},
		"a sync of its own": {func() *driver { return begin(true) }, 0},
		"answered": {func() *driver {
			b := begin(false)
			b.accept(b.step(Synced{Session: 5}))
			return b
		}, 0},
		"a push": {func() *driver {
			b := begin(false)
			b.step(Synced{Session: 5})
			return b
		}, 2},
		"a push, answered in part": {func() *driver {
			b := begin(false)
			b.step(Synced{Session: 5})
			b.pass(silence - 20*time.Millisecond)
			b.step(Answered{Session: 5, Frame: b.s.workers[5].frame})
			return b
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.begin()
			if n := told(b, silence-20*time.Millisecond); n != 0 {
				t.Errorf("told of %d times before its time", n)
			}
			if n := told(b, silence+100*time.Millisecond); n != c.told {
				t.Errorf("told of %d times, want %d", n, c.told)
			}
			if w := b.s.workers[5]; name == "a sync" && (b.s.Ready() || w.synced) {
				t.Error("it counts as one that has answered")
			}
		})
	}
}
