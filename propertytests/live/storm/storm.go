package storm

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Process is a program that a storm strikes.
type Process interface {
	fmt.Stringer
	// Wire is its path to the server.
	Wire() *natsrun.Link
	// Lost reports whether its path is never healed again.
	Lost() bool
	// Crash cuts it off for ever.
	Crash()
	// Abandon ends whatever still runs of it.
	Abandon()
}

// Weather is what a storm draws from, and what it has struck so far.
type Weather[P Process] struct {
	Rand  *rand.Rand
	Lease time.Duration // the TTL of its sessions
	Note  func(format string, args ...any)
	Count func(what string, n int)
	// Join starts another process like one: under its name, or under a new one.
	Join func(like P, sameName bool)

	broken []P // with paths to heal
	doomed []doom[P]
}

// doom is when what is left of a process ends that has crashed or left.
type doom[P Process] struct {
	p  P
	at time.Time
}

// Below draws a duration below d.
func (w *Weather[P]) Below(d time.Duration) time.Duration {
	return time.Duration(w.Rand.Int64N(int64(d)))
}

// Pass lets time pass. A doomed process ends when its time has come.
func (w *Weather[P]) Pass(d time.Duration) {
	time.Sleep(d)
	kept := w.doomed[:0]
	for _, d := range w.doomed {
		if time.Now().Before(d.at) {
			kept = append(kept, d)
			continue
		}
		d.p.Abandon()
	}
	w.doomed = kept
}

// Doom ends what is left of a process after some time.
func (w *Weather[P]) Doom(p P, after time.Duration) {
	w.doomed = append(w.doomed, doom[P]{p, time.Now().Add(after)})
}

// Hurt remembers a path that is to be healed.
func (w *Weather[P]) Hurt(p P) { w.broken = append(w.broken, p) }

// HealOne heals one of the broken paths, if there is one.
func (w *Weather[P]) HealOne() bool {
	if len(w.broken) == 0 {
		return false
	}
	i := w.Rand.IntN(len(w.broken))
	p := w.broken[i]
	w.broken = append(w.broken[:i], w.broken[i+1:]...)
	w.heal(p)
	return true
}

// HealAll heals all broken paths.
func (w *Weather[P]) HealAll() {
	for _, p := range w.broken {
		w.heal(p)
	}
	w.broken = nil
}

func (w *Weather[P]) heal(p P) {
	if !p.Lost() {
		w.Note("heal %s", p)
		p.Wire().Heal()
	}
}

// Restart stops a server, and starts it again after up to a TTL.
func (w *Weather[P]) Restart(tb testing.TB, server *natsrun.Server) bool {
	server.Stop()
	w.Pass(w.Below(w.Lease))
	if err := server.Restart(); err != nil {
		tb.Fatal(err)
	}
	return true
}
