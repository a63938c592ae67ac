package unique

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/unique"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// Model searches one configuration.
type Model struct {
	cfg  *Config
	seed maphash.Seed
}

func New(cfg *Config) *Model { return &Model{cfg, maphash.MakeSeed()} }

func (x *Model) Start() ([]State, *search.Violation) {
	var s State
	for i := range s.clients {
		if i >= len(x.cfg.Clients) {
			s.clients[i].gone = true
			continue
		}
		c := x.cfg.Clients[i]
		s.clients[i].s = unique.NewSubmitter(strconv.Itoa(c.Task), c.Own, c.Eager)
	}
	return []State{s}, nil
}

func (x *Model) Fingerprint(s State) uint64 { return maphash.Comparable(x.seed, s) }

// Landmarks and At: what a search has to come by.
func (x *Model) Landmarks() []string {
	return []string{
		"where a task was there", "where two were stored", "where a copy is under way that its task has outlived",
		"where nobody is left and a key has a task that never came",
	}
}

func (x *Model) At(s State) (bits uint32) {
	stored, left := 0, 0
	for i := range s.clients {
		switch c := &s.clients[i]; {
		case c.end == unique.Taken:
			bits |= 1
		case c.end == unique.Stored:
			stored++
		case c.works():
			left++
		}
	}
	if stored > 1 {
		bits |= 2
	}
	for _, w := range s.copies {
		if w.kind == stores && s.places[w.task].now.holds == outcome {
			bits |= 4
		}
	}
	if k := s.keys[1].now; left == 0 && k.task > 0 && !s.opened[k.task] {
		bits |= 8
	}
	return bits
}

// do is one move: an actor, and how it goes.
type do struct {
	kind moveSort
	who  uint8
	how  uint8
}

type moveSort uint8

const (
	acts moveSort = iota // a client, by its number
	leaves
	submits     // the client without a key
	beginsAgain // the client that requeues
	actsAgain
	lands   // a copy
	ends    // a task
	tidies  // a key
	expires // what is in the place of a task
)

// How a write goes.
const (
	answered      uint8 = iota
	answeredTwice       // and a copy of it stays under way
	unanswered          // it is stored, if it may be
	underWay            // it may be stored later
	dropped
	ways
)

func (d do) move() search.Move {
	return search.Move(uint32(d.kind)<<16 | uint32(d.who)<<8 | uint32(d.how))
}

func doOf(m search.Move) do { return do{moveSort(m >> 16), uint8(m >> 8), uint8(m)} }

// Moves appends all that can happen. A read that shows an earlier record, a write that is not
// simply answered, and a client that disappears are faults.
func (x *Model) Moves(s State, to []search.Move) []search.Move {
	add := func(kind moveSort, who int, how uint8) { to = append(to, do{kind, uint8(who), how}.move()) }
	faulty, room := int(s.faults) < x.cfg.Faults, x.room(&s) >= 0
	reads := func(kind moveSort, who int, changed bool) {
		if add(kind, who, 0); faulty && changed {
			add(kind, who, 1)
		}
	}
	act := func(kind moveSort, who int, a unique.Action, key int) {
		switch a.Do {
		case unique.ReadKey:
			reads(kind, who, s.keys[key].now != s.keys[key].before)
		case unique.ReadPlace:
			reads(kind, who, s.places[number(a.Task)].now != s.places[number(a.Task)].before)
		default:
			add(kind, who, answered)
			for how := answeredTwice; faulty && how < ways; how++ {
				if room || how != answeredTwice && how != underWay {
					add(kind, who, how)
				}
			}
		}
	}
	for i := range x.cfg.Clients {
		if c := &s.clients[i]; c.works() {
			if act(acts, i, c.s.Next(), x.cfg.Clients[i].Key); faulty {
				add(leaves, i, 0)
			}
		}
	}
	if p := x.cfg.Plain; p > 0 && s.plain == idle {
		reads(submits, p, s.places[p].now != s.places[p].before)
	}
	if r := x.cfg.Requeue; r > 0 {
		dead := func(p placeRecord) bool { return p.holds == outcome && p.key > 0 }
		switch at := s.places[r]; {
		case s.requeue.progress == working:
			act(actsAgain, r, s.requeue.m.Next(), 1)
		case s.requeue.progress == idle:
			if dead(at.now) {
				add(beginsAgain, r, 0)
			}
			if faulty && dead(at.before) && at.before != at.now {
				add(beginsAgain, r, 1)
			}
		}
	}
	for i, w := range s.copies {
		if w.kind != noWrite {
			add(lands, i, 0)
		}
	}
	for t := 1; t <= maxTasks; t++ {
		switch s.places[t].now.holds {
		case submission:
			if add(ends, t, answered); s.held[t] > 0 {
				add(ends, t, dropped)
				if room {
					add(ends, t, underWay)
				}
			}
		case reservation, outcome:
			add(expires, t, 0)
		}
	}
	for k := 1; k <= maxKeys; k++ {
		if x.orphan(&s, k) {
			add(tidies, k, answered)
		}
	}
	return to
}

// Good reports whether all have come to their end.
func (x *Model) Good(s State) bool {
	for i := range s.clients {
		if s.clients[i].works() {
			return false
		}
	}
	return s.requeue.progress != working
}

// Fault reports whether a move is one that nobody may count on.
func (x *Model) Fault(m search.Move) bool {
	d := doOf(m)
	switch d.kind {
	case leaves:
		return true
	case acts, actsAgain, beginsAgain, submits:
		return d.how != 0
	}
	return false
}

// orphan reports whether a scheduler that has read all frees a key: its task is not open, and not
// about to be.
func (x *Model) orphan(s *State, key int) bool {
	k := s.keys[key].now
	if k.task == 0 {
		return false
	}
	p := s.places[k.task].now
	return p.holds != submission && p.revision != k.at
}

// room is a place for a copy, -1 for none.
func (x *Model) room(s *State) int {
	for i := range x.cfg.Copies {
		if s.copies[i].kind == noWrite {
			return i
		}
	}
	return -1
}

func number(task string) int {
	n, _ := strconv.Atoi(task) // it is one of ours
	return n
}

func (x *Model) Do(s State, m search.Move) (State, error) {
	to, _, err := x.play(s, doOf(m))
	return to, err
}

func (x *Model) Tell(s State, m search.Move) (State, []string, error) {
	to, what, err := x.play(s, doOf(m))
	return to, []string{what}, err
}

// send brings a write to the stream in one of the ways.
func (x *Model) send(s *State, w streamWrite, how uint8) (o record.Outcome, err error) {
	won := false
	switch how {
	case answered, answeredTwice, unanswered:
		won, err = s.apply(w)
	}
	if how == answeredTwice || how == underWay {
		s.copies[x.room(s)] = w
	}
	switch {
	case how != answered && how != answeredTwice:
		return record.Unknown, err
	case won:
		return record.Won, err
	}
	return record.Refused, err
}

// play makes a move.
func (x *Model) play(s State, d do) (to State, what string, err error) {
	if x.Fault(d.move()) {
		s.faults++
	}
	to, what, err = x.happens(s, d)
	if int(to.faults) == x.cfg.Faults { // nobody reads it any more
		to.forget()
	}
	to.drop()
	renumber(&to)
	return to, what, err
}

func (x *Model) happens(s State, d do) (State, string, error) {
	switch d.kind {
	case acts:
		what, err := x.act(&s, int(d.who), d.how)
		return s, fmt.Sprintf("client %d %s", d.who+1, what), err
	case leaves:
		s.clients[d.who] = client{gone: true}
		return s, fmt.Sprintf("client %d is gone", d.who+1), nil
	case submits:
		p := s.places[d.who].at(d.how)
		s.plain = finished
		if p.holds > reservation {
			return s, fmt.Sprintf("task %d is there, without a key or with one", d.who), nil
		}
		o, err := x.send(&s, streamWrite{kind: submitsPlain, task: d.who, expect: p.revision}, answered)
		return s, fmt.Sprintf("task %d is submitted without a key over %v at %d: %v", d.who, p.holds, p.revision, o), err
	case beginsAgain:
		dead := s.places[d.who].at(d.how).revision
		s.requeue = requeuer{working, unique.NewRequeuer(strconv.Itoa(int(d.who)), uint64(dead))}
		return s, fmt.Sprintf("task %d is to be submitted again over %d", d.who, dead), nil
	case actsAgain:
		what, err := x.actAgain(&s, d.how)
		return s, "the one that submits again " + what, err
	case lands:
		w := s.copies[d.who]
		s.copies[d.who] = streamWrite{}
		won, err := s.apply(w)
		return s, fmt.Sprintf("late: %s %d: %t", writeNames[w.kind], w.task, won), err
	case ends:
		return x.end(s, d.who, d.how)
	case tidies:
		k := s.keys[d.who].now
		_, err := x.send(&s, streamWrite{kind: frees, key: d.who, expectKey: k.revision}, d.how)
		return s, fmt.Sprintf("a scheduler frees the key %d of %d (%d)", d.who, k.task, d.how), err
	}
	p := s.places[d.who].now
	s.places[d.who].put(placeRecord{})
	return s, fmt.Sprintf("%v of task %d expires", p.holds, d.who), nil
}

// end stores the outcome of a task, and frees its key.
func (x *Model) end(s State, t, how uint8) (State, string, error) {
	p, held := s.places[t].now, s.held[t]
	s.last++
	s.places[t].put(placeRecord{s.last, outcome, p.key})
	s.held[t] = 0
	what := fmt.Sprintf("task %d ends at %d", t, s.last)
	if held == 0 || how == dropped {
		return s, what, nil
	}
	o, err := x.send(&s, streamWrite{kind: frees, key: p.key, expectKey: held}, how)
	return s, fmt.Sprintf("%s, and its key is freed: %v", what, o), err
}
