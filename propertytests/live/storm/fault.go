package storm

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Fault is one thing that goes wrong in a storm S of processes P.
type Fault[S, P any] struct {
	Name   string
	Weight int                 // how often it is drawn, against the others
	Strike func(s S, p P) bool // false: it could not be done
}

// Of makes a fault.
func Of[S, P any](name string, weight int, strike func(s S, p P) bool) Fault[S, P] {
	return Fault[S, P]{name, weight, strike}
}

// struck is a storm that knows what it has broken.
type struck[P Process] interface {
	Hurt(p P)
	Delay(p P) bool
}

// OfPaths are the faults of a process's path to the server.
func OfPaths[S struck[P], P Process]() []Fault[S, P] {
	breaks := func(name string, weight int, do func(l *natsrun.Link)) Fault[S, P] {
		return Of(name, weight, func(s S, p P) bool { do(p.Wire()); s.Hurt(p); return true })
	}
	return []Fault[S, P]{
		breaks("cut", 4, (*natsrun.Link).Cut),
		breaks("cut to server", 3, func(l *natsrun.Link) { l.CutOneWay(natsrun.ToServer) }),
		breaks("cut to client", 3, func(l *natsrun.Link) { l.CutOneWay(natsrun.ToClient) }),
		breaks("hold to server", 4, func(l *natsrun.Link) { l.Hold(natsrun.ToServer) }),
		breaks("hold to client", 4, func(l *natsrun.Link) { l.Hold(natsrun.ToClient) }),
		breaks("hold", 3, func(l *natsrun.Link) { l.Hold(natsrun.Both) }),
		Of("delay", 3, S.Delay),
		Of("reset", 3, func(_ S, p P) bool { p.Wire().Reset(); return true }),
		breaks("refuse", 2, func(l *natsrun.Link) { l.Refuse(true); l.Reset() }),
	}
}

// Delay slows a path down, in one direction or both.
func (w *Weather[P]) Delay(p P) bool {
	p.Wire().DelayDir(natsrun.Direction(1+w.Rand.IntN(3)), w.Below(w.Lease/2))
	w.Hurt(p)
	return true
}

// Crash cuts a process off for ever. As often as not it comes back under its name, as if it had
// been started again.
func (w *Weather[P]) Crash(p P) bool {
	p.Crash()
	w.Doom(p, 3*w.Lease)
	w.Join(p, w.Rand.IntN(2) == 0)
	return true
}

// Double starts a second process under a name while the first is cut off, and lets the first come
// back.
func (w *Weather[P]) Double(p P) bool {
	p.Wire().Hold(natsrun.Both)
	w.Join(p, true)
	w.Hurt(p)
	return true
}

// Evict ends the term of a role by force. The role is drawn when the bucket can be read.
func Evict(operator *nats.Conn, bucket string, draw func() string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := election.Observe(ctx, operator, bucket)
	if err != nil {
		return false
	}
	defer o.Close()
	role := draw()
	info, _ := o.Role(role)
	return info.Epoch != 0 && o.Evict(ctx, role, info.Epoch) == nil
}

// Draw draws a fault by weight.
func Draw[S, P any](rng *rand.Rand, faults []Fault[S, P]) Fault[S, P] {
	total := 0
	for _, f := range faults {
		total += f.Weight
	}
	n := rng.IntN(total)
	for _, f := range faults {
		if n -= f.Weight; n < 0 {
			return f
		}
	}
	panic("storm: weights that do not add up")
}

// Throw lets a fault strike a process, and counts it if that could be done.
func Throw[S any, P Process](s S, w *Weather[P], f Fault[S, P], p P) bool {
	w.Note("fault: %s (%s)", f.Name, p)
	if !f.Strike(s, p) {
		return false
	}
	w.Count(counted+f.Name, 1)
	w.Count("faults", 1)
	return true
}

const counted = "fault/"

// Names are the names under which a tally counts faults. Without restarts the server is never
// restarted.
func Names[S, P any](faults []Fault[S, P], restarts bool) (names []string) {
	for _, f := range Possible(faults, restarts) {
		names = append(names, counted+f.Name)
	}
	return names
}

// Possible are the faults that a storm with or without restarts of the server can have.
func Possible[S, P any](faults []Fault[S, P], restarts bool) (can []Fault[S, P]) {
	for _, f := range faults {
		if f.Name != "restart" || restarts {
			can = append(can, f)
		}
	}
	return can
}
