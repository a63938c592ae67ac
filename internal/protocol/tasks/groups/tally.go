package groups

import (
	"strconv"
	"strings"
)

// Prefix begins the ids of the completions of groups and of their members. No other task may use
// it.
const Prefix = "group/"

// MaxSize is how many members a group has at most.
const MaxSize = 100_000

// MemberID is the id of a member of the group whose completion has an id. Members count from 0.
func MemberID(completion string, index int) string { return completion + "/" + strconv.Itoa(index) }

// MemberOf says which member of which group an id is of. The name of a group has no slash.
func MemberOf(id string) (completion string, index int, ok bool) {
	if !strings.HasPrefix(id, Prefix) {
		return "", 0, false
	}
	at := strings.LastIndexByte(id, '/')
	if at <= len(Prefix) || strings.IndexByte(id[len(Prefix):], '/') != at-len(Prefix) {
		return "", 0, false
	}
	index, err := strconv.Atoi(id[at+1:])
	if err != nil || index < 0 || index >= MaxSize || strconv.Itoa(index) != id[at+1:] {
		return "", 0, false
	}
	return id[:at], index, true
}

// Fate is what is known about a member. It takes four bits in the record of a group: a fate keeps
// its number.
type Fate uint8

const (
	Unseen    Fate = iota // it has not been submitted, as far as is known
	Open                  // it has been
	Done                  // it has succeeded
	Dead                  // it has ended so
	Cancelled             // likewise
	Expired               // likewise
	Skipped               // likewise
	Lost                  // it has ended, and its outcome had left before anybody counted it
	fates
)

// Over reports whether a member has ended.
func (f Fate) Over() bool { return f > Open && f < fates }

// Tally is what is known about the members of one group.
//
// Invariant: what is known about a member only grows: unseen, open, ended in one way. So a record
// of an earlier scheduler and what the stream still shows are merged in any order.
type Tally struct {
	fates  []Fate
	counts [fates]int
	closed bool // all members have been submitted: an earlier scheduler has noted that
	fresh  bool // something has changed since the last Record
}

// NewTally begins the tally of a group.
func NewTally(size int) *Tally {
	t := &Tally{fates: make([]Fate, size)}
	t.counts[Unseen] = size
	return t
}

// Size is how many members the group has.
func (t *Tally) Size() int { return len(t.fates) }

// Count is how many members have a fate.
func (t *Tally) Count(f Fate) int { return t.counts[f] }

// Fate is what is known about a member.
func (t *Tally) Fate(index int) Fate {
	if index < 0 || index >= len(t.fates) {
		return Unseen
	}
	return t.fates[index]
}

// Set takes down what has become of a member. One that has ended stays so.
func (t *Tally) Set(index int, f Fate) {
	if index < 0 || index >= len(t.fates) || f >= fates {
		return
	}
	if was := t.fates[index]; f > was && !was.Over() {
		t.fates[index], t.fresh = f, true
		t.counts[was]--
		t.counts[f]++
	}
}

// Closed reports whether all members have been submitted.
func (t *Tally) Closed() bool { return t.closed || t.counts[Unseen] == 0 }

// Complete reports whether all members have ended.
func (t *Tally) Complete() bool { return t.counts[Unseen]+t.counts[Open] == 0 }

// Lose takes down, once all has been read, that members have ended which were submitted and are not
// open: their outcomes have left.
func (t *Tally) Lose(open func(index int) bool) {
	closed := t.Closed()
	for i, f := range t.fates {
		if (f == Open || f == Unseen && closed) && !open(i) {
			t.Set(i, Lost)
		}
	}
}

// Failed are the first members, at most so many, that have not succeeded.
func (t *Tally) Failed(most int) (all []int) {
	for i, f := range t.fates {
		if f.Over() && f != Done && len(all) < most {
			all = append(all, i)
		}
	}
	return all
}

// Fresh reports whether something has changed since the last Record.
func (t *Tally) Fresh() bool { return t.fresh }

// Record is what the next scheduler must know: four bits for each member.
func (t *Tally) Record() (closed bool, packed []byte) {
	packed = make([]byte, (len(t.fates)+1)/2)
	for i, f := range t.fates {
		packed[i/2] |= byte(f) << (4 * (i % 2))
	}
	t.fresh = false
	return t.Closed(), packed
}

// Merge takes over a record, which is of a group of this size.
func (t *Tally) Merge(closed bool, packed []byte) {
	fresh := t.fresh
	for i := range t.fates {
		if i/2 < len(packed) {
			t.Set(i, Fate(packed[i/2]>>(4*(i%2))&0xf))
		}
	}
	t.closed, t.fresh = t.closed || closed, fresh
}
