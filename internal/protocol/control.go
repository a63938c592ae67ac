package protocol

import "errors"

// Cause says why a term ended.
type Cause uint8

const (
	SessionLost Cause = iota + 1
	SteppedDown
	Outranked
	Transferred
	Evicted
	Unhealthy
	Disconnected
	SessionClosed
	WorkReturned // the work function returned nil while it led
	WorkFailed   // it returned an error, or panicked
	Balanced     // given to a member that leads fewer
	FailedBack   // given to a better zone, which has been there for long enough
	ZoneDrained  // an operator wants nobody in our zone to lead
	RolePaused   // an operator wants nobody to lead it

	ConditionEnded // the term that it depends on has ended
)

var causes = [...]string{
	"", "session lost", "stepped down", "outranked", "transferred", "evicted", "unhealthy", "disconnected", "closed",
	"work returned", "work failed", "balanced", "failed back", "zone drained",
	"role paused", "condition ended",
}

func (c Cause) String() string { return causes[c] }

// Why a command or a machine fails.
var (
	ErrNotLeader      = errors.New("not the leader of the role")
	ErrWrongEpoch     = errors.New("the role is held at another epoch")
	ErrUnknownRole    = errors.New("the instance does not take part in the role")
	ErrBusy           = errors.New("the role is being handed over already")
	ErrNotCandidate   = errors.New("the target is not a live, eligible candidate for the role")
	ErrDeclined       = errors.New("the target did not confirm that it is ready")
	ErrUnproven       = errors.New("leadership could neither be proved nor disproved")
	ErrUnknownOp      = errors.New("unknown operation: step-down, transfer, ready, pause and resume are known")
	ErrStopped        = errors.New("the session has ended")
	ErrStoreRegressed = errors.New("revisions went back: the bucket was restored or recreated")
	ErrNewerRecord    = errors.New("our own lease was written by a later version")
)

// DuplicateError says that another process uses our instance id: its lease continued while we
// waited for it.
type DuplicateError struct {
	Instance string
	Session  uint64 // of the other process
	Nonce    string
}

func (e *DuplicateError) Error() string {
	return "another live session uses the instance id " + e.Instance
}

// Operations of a control request.
const (
	OpStepDown = "step-down"
	OpTransfer = "transfer"
	OpReady    = "ready"
	OpPause    = "pause"
	OpResume   = "resume"
)

// Request is a control request, sent to the instance that holds the role (or, for ready, shall hold
// it).
type Request struct {
	ID     string `json:"id"` // the same id gets the same answer again
	Op     string `json:"op"`
	Role   string `json:"role"`
	Epoch  uint64 `json:"epoch,omitempty"`
	Target string `json:"target,omitempty"`
	// Balance says that the role is to move for the sake of balance alone. Wake says that the role
	// is about to be given away, and nothing is promised.
	Balance bool `json:"balance,omitempty"`
	Wake    bool `json:"wake,omitempty"`
}

// Response answers a Request.
type Response struct {
	ID        string `json:"id"`
	OK        bool   `json:"ok"`
	Error     string `json:"error,omitempty"`
	Successor string `json:"successor,omitempty"`
}
