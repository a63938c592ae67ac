package elections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// wire is what is under way from and to one process. It is never changed: a step makes another one.
type wire struct {
	part    snapshot.Part
	flights []flight
	feed    []*wonWrite // what the watch has not delivered yet
	watch   watch
	width   protocol.Widen // of the watch, or of the next one
	drains  []drain
	asks    []ask
	// controls are requests of an operator to this process.
	controls []control
}

// watch is how a process comes to know what stands in the bucket.
type watch uint8

const (
	noWatch watch = iota
	building
	watching
	stalled // delivers nothing until it continues
	blind   // a new one is made, and may take any time
)

// flight is a write on its way, or its answer.
type flight struct {
	letter   *letter
	stage    stage
	left     int // units until it is given up
	outcome  record.Outcome
	revision uint64
}

type stage uint8

const (
	going   stage = iota
	delayed       // may arrive at any later moment
	orphan        // and nobody waits for the answer any more
	back          // it has arrived, and the answer is on its way
	backLate
	echo // an answer beside the one that is awaited
)

// drain is work whose term has ended.
type drain struct {
	role uint8
	term uint64
	slow bool
}

// ask is a leader's question whether somebody would take its role over, or the answer on its way
// back.
type ask struct {
	role  uint8
	to    uint8
	stage askStage
	ok    bool
	late  bool // it is a repetition: a question whose answer nobody awaits, or one more answer

	balance bool // it asks for the sake of balance
}

type askStage uint8

const (
	askGoing askStage = iota
	askHeard
	askBack
)

// The numbers of commands, far above those of what an operator asks.
const (
	firstQuestion protocol.CommandID = 100
	firstRepeated protocol.CommandID = 200
)

func question(from, role int, repeated bool) protocol.CommandID {
	if repeated {
		return firstRepeated
	}
	return firstQuestion + protocol.CommandID(10*from+role)
}

// control is the request that the leader of a role at an epoch steps down, or transfers it.
type control struct {
	kind  stimulusKind
	role  uint8
	to    uint8
	late  bool // it is a repetition
	epoch uint64
}

// copied returns a wire that can be changed before it is kept.
func (l *wire) copied() *wire {
	return &wire{
		flights: slices.Clone(l.flights), feed: slices.Clone(l.feed), watch: l.watch, width: l.width,
		drains: slices.Clone(l.drains), asks: slices.Clone(l.asks), controls: slices.Clone(l.controls),
	}
}

// repeatFlight puts a second answer beside one that is on its way: the same, or that of a bucket
// which the write has reached twice. Whichever of two equal writes comes first, the second is
// refused, at any later moment as well: the revision that it expects is history, as it is when the
// first was refused. So what the second one does is its answer.
//
// The process is handed each answer that comes. Its driver would take one for each write: the
// machine does not count on it.
func (l *wire) repeatFlight(v verb, n int) {
	twin := l.flights[n]
	twin.stage, twin.left = echo, 0
	switch v {
	case repeatRequest:
		twin.outcome, twin.revision = record.Refused, 0
	case refusedFirst:
		l.flights[n].outcome, l.flights[n].revision = record.Refused, 0
	}
	l.flights = append(l.flights, twin)
}

// alone checks that no write of a role is sent while the answer to another one of it is awaited.
func (l *wire) alone(key string, i int, err error) error {
	if err != nil || !strings.HasPrefix(key, "c.role.") {
		return err
	}
	for _, f := range l.flights {
		if f.letter.key == key && f.stage != orphan && f.stage != echo {
			return fmt.Errorf("%s writes %s while it awaits the answer to write %d of it", instance(i), key, f.letter.id)
		}
	}
	return nil
}

func (l *wire) dropFlight(n int) { l.flights = slices.Delete(l.flights, n, n+1) }

// fullFeed is how much a watch that does not deliver keeps of what was overwritten: the bucket has
// one value for each key.
const fullFeed = 4

// receive takes in what was written.
func (l *wire) receive(c *wonWrite) {
	l.feed = append(l.feed, c)
	l.compact(fullFeed)
}

// compact drops what was overwritten, the oldest first, until no more than so much is left.
func (l *wire) compact(most int) {
	for n := 0; n < len(l.feed) && len(l.feed) > most; {
		if later := l.feed[n+1:]; slices.ContainsFunc(later, func(o *wonWrite) bool { return o.key == l.feed[n].key }) {
			l.feed = slices.Delete(l.feed, n, n+1)
		} else {
			n++
		}
	}
}

// rewatch drops the watch for a new one, which may take any time if this one does.
func (l *wire) rewatch() {
	l.feed = nil
	if l.watch == stalled || l.watch == blind {
		l.watch = blind
	} else {
		l.watch = building
	}
}

// crash leaves only what was sent and may still arrive.
func (l *wire) crash() {
	flights := l.flights[:0]
	for _, f := range l.flights {
		switch f.stage {
		case going, delayed, orphan:
			flights = append(flights, flight{letter: f.letter, stage: orphan})
		}
	}
	controls := slices.DeleteFunc(l.controls, func(c control) bool { return !c.late })
	*l = wire{flights: flights, controls: controls}
}

// overwritten reports whether something in the feed has been followed by another one of its key.
func (l *wire) overwritten() bool {
	for n, c := range l.feed {
		if slices.ContainsFunc(l.feed[n+1:], func(o *wonWrite) bool { return o.key == c.key }) {
			return true
		}
	}
	return false
}

func (x *Model) lookWire(i int, l *wire) {
	w := &x.walk
	w.Begin(uint8(i), 0)
	w.Word(uint64(len(l.flights)))
	for _, f := range l.flights {
		w.Word(uint64(f.stage)<<8 | uint64(f.outcome)<<16 | uint64(f.left)<<24)
		if f.stage != orphan {
			w.Name(snapshot.Name{Class: snapshot.Write, Owner: uint8(i), Value: uint64(f.letter.id)})
		}
		if f.stage >= back {
			x.lookKey(f.letter.key)
			x.lookRevision(f.revision)
		} else {
			x.lookLetter(f.letter)
		}
	}
	w.Word(uint64(l.watch)<<32 | uint64(len(l.feed)))
	w.Flag(l.width.All)
	w.Flag(l.width.OwnIdle)
	for _, c := range l.feed {
		snapshot.Look(x.looker, w, &c.entry)
	}
	w.Word(uint64(len(l.drains)))
	for _, d := range l.drains {
		w.Word(uint64(d.role))
		w.Flag(d.slow)
		x.lookRevision(d.term)
	}
	w.Word(uint64(len(l.asks)))
	for _, a := range l.asks {
		w.Word(uint64(a.role)<<16 | uint64(a.stage)<<8)
		w.Flag(a.ok)
		w.Flag(a.late)
		w.Flag(a.balance)
		w.Name(snapshot.Name{Class: snapshot.Member, Value: uint64(a.to)})
	}
	w.Word(uint64(len(l.controls)))
	for _, c := range l.controls {
		w.Word(uint64(c.kind)<<16 | uint64(c.role))
		w.Flag(c.late)
		x.lookRevision(c.epoch)
		w.Name(snapshot.Name{Class: snapshot.Member, Value: uint64(c.to)})
	}
}

// keepWire looks at a wire, and returns the one like it that is known already, if there is one.
func (x *Model) keepWire(i int, l *wire) *wire {
	x.lookWire(i, l)
	l.part = x.walk.Part()
	key := l.part.Exact()
	key.Word(uint64(i))
	if known, ok := x.wires.Get(key); ok {
		return known
	}
	x.wires.Put(key, l)
	return l
}

// keepProcess does the same for a process.
func (x *Model) keepProcess(i int, p *memberState) *memberState {
	w := &x.walk
	w.Begin(uint8(i), int64(p.now))
	w.Flag(p.m != nil)
	w.Flag(p.paused)
	if p.m != nil {
		w.Flag(p.synced)
		w.Flag(p.joined)
		w.Flag(p.due)
		snapshot.Look(x.looker, w, p.m)
		for _, k := range p.work[:x.cfg.Roles] {
			w.Flag(k.leading)
			w.Flag(k.drained)
			x.lookRevision(k.term)
			x.lookRevision(k.epoch)
		}
	}
	p.part = w.Part()
	key := p.part.Exact()
	key.Word(uint64(i))
	key.Word(p.ids)
	if known, ok := x.processes.Get(key); ok {
		return known
	}
	x.processes.Put(key, p)
	return p
}
