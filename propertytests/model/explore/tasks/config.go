package tasks

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// unit is the grain of time; a scheduler asks again after one.
const unit = time.Second

const (
	maxWorkers = 2
	maxLeaders = 3
	maxTasks   = 2
)

// Config is one small configuration and how much may go wrong in it.
type Config struct {
	Name    string
	Leaders int // terms, one after the other
	Tasks   int
	Slots   int
	Faults  int
	Most    map[Fault]int
	// Piecemeal has a reading come to one record at a time, and notice what it has missed.
	Piecemeal bool
}

// Fault is something that goes wrong.
type Fault uint8

// The faults.
const (
	Delay   Fault = iota // of a message or a write, which arrives at any later moment, or never
	Repeat               // a message arrives now, and once more later
	Lag                  // a view, or the reading of the stream, stands still for a while
	Crash                // of a process, or the loss of its session
	Depose               // the role goes to somebody else while the leader lives
	Failure              // of a handler
	Release              // a worker gives a task back, and drains
	Deaf                 // nobody listens where a frame went
	Renew                // the connection was another one for a moment
	Rotate               // the leader's term is given another epoch
	Rewrite              // an outcome that a reading has still to come to is written again, without a seal
	Faults
)

var faultNames = [...]string{
	"delay", "repeat", "lag", "crash", "depose", "failure", "release", "deaf",
	"renew", "rotate", "rewrite",
}

func (f Fault) String() string { return faultNames[f] }

var policy = &tasks.Policy{Kind: "a", MaxAttempts: 2, Backoff: unit, MaxBackoff: unit}

func instance(i int) string { return "=" + string(rune('a'+i)) }

func taskID(t int) string { return "t" + string(rune('0'+t)) }

func taskIndex(id string) int { return int(id[1] - '0') }
