package tasks

import "fmt"

// State is the public state of a task. A delayed task becomes pending when it is due. A pending one
// runs when a worker has accepted it, and is pending again if the worker gives it back. A running
// one is retrying after an attempt that counts, or ends. The terminal states are the Status of its
// outcome; a task may become cancelled or expired from any other state.
type State string

const (
	StatePending   State = "pending"  // it waits for a worker
	StateDelayed   State = "delayed"  // it is not due yet
	StateRunning   State = "running"  // a worker has it
	StateRetrying  State = "retrying" // an attempt has ended, the next one is not due yet
	StateSucceeded       = State(StatusSucceeded)
	StateDead            = State(StatusDead)
	StateCancelled       = State(StatusCancelled)
	StateExpired         = State(StatusExpired)
	StateSkipped         = State(StatusSkipped)
)

// follows says which states may come after an open one. Nothing comes after a terminal one:
// requeued, it is another task. Only what runs succeeds. Records of an earlier term may be told in
// any order, so a task that waits may turn out to be running, or to be retrying.
var follows = map[State][]State{
	StateDelayed:  {StatePending, StateRunning, StateRetrying, StateCancelled, StateExpired},
	StatePending:  {StateDelayed, StateRunning, StateRetrying, StateDead, StateCancelled, StateExpired, StateSkipped},
	StateRunning:  {StatePending, StateRetrying, StateSucceeded, StateDead, StateCancelled, StateExpired},
	StateRetrying: {StatePending, StateRunning, StateCancelled, StateExpired},
}

// taskPhase is where a task stands, for the scheduler.
type taskPhase uint8

const (
	nowhere  taskPhase = iota // not in the state
	waiting                   // in its class
	parked                    // in its class, among those that the limit of their key has kept back
	blocked                   // kept back by tasks that have not ended
	delayed                   // not due yet
	starting                  // a worker was chosen, and the note that says so is being stored
	pushed                    // a worker was asked to run it, and has not answered
	running                   // a worker has it
	noting                    // an attempt has ended, and the note of that is being stored
	ending                    // its outcome is being stored
	phases                    // how many there are
)

var phaseNames = [phases]string{
	"nowhere", "waiting", "parked", "blocked", "delayed", "starting", "pushed", "running",
	"noting", "ending",
}

func (p taskPhase) String() string { return phaseNames[p] }

// moves are those that the rules make; whatever is open may also be dropped, when the stream shows
// that it has ended.
var moves = [phases][]taskPhase{
	nowhere:  {waiting, parked, blocked, delayed},
	waiting:  {starting, pushed, running, parked, delayed, noting, ending, nowhere},
	parked:   {starting, pushed, running, waiting, delayed, noting, ending, nowhere},
	blocked:  {waiting, parked, delayed, running, ending, nowhere},
	delayed:  {waiting, parked, running, noting, ending, nowhere},
	starting: {pushed, noting, ending, nowhere},
	pushed:   {running, waiting, parked, noting, ending, nowhere},
	running:  {waiting, parked, noting, ending, nowhere},
	noting:   {waiting, parked, delayed, ending, nowhere},
	ending:   {nowhere},
}

// may is moves as a table of bits.
var may = func() (bits [phases]uint16) {
	for from, all := range moves {
		for _, to := range all {
			bits[from] |= 1 << to
		}
	}
	return bits
}()

// queued reports whether the task waits for a worker or for its time.
func (p taskPhase) queued() bool { return p == waiting || p == parked || p == blocked || p == delayed }

// state is what a phase looks like from outside. A task whose outcome is being stored looks as it
// did.
func (t *task) state() State {
	switch t.phase {
	case delayed:
		if t.tries() > 0 {
			return StateRetrying
		}
		return StateDelayed
	case starting, pushed, running:
		return StateRunning
	case noting:
		return StateRetrying
	case ending:
		return t.run.before
	}
	return StatePending
}

// move is the only place that assigns a phase. A move that no rule makes ends the scheduler: what
// its state says must not be written; the next one reads it again.
func (s *Scheduler) move(t *task, to taskPhase) {
	if may[t.phase]&(1<<to) == 0 {
		s.end(Broken{fmt.Sprintf("task %s moves from %v to %v", t.id(), t.phase, to)})
	}
	k := t.class.kind
	k.count[t.phase]--
	k.count[to]++
	s.count[t.phase]--
	s.count[to]++
	if to == ending {
		t.run.before = t.state()
	}
	from := t.phase
	t.phase = to
	s.noticeMove(t, from)
}
