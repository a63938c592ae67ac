package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Event is what happens to a machine: news of the watch, outcomes of its writes, reports of its
// driver, and commands. Each is handled in the file of its rule, by its apply method.
type Event interface{ apply(m *Machine) }

// WriteID names a write from its Write effect to its Written event.
type WriteID uint64

// CommandID names a command from its event to its Done effect; it is the driver's to choose.
type CommandID uint64

type (
	// Tick says that time has passed.
	Tick struct{}

	// WatchReset says that a new watch has begun to deliver.
	WatchReset view.Watch

	// SnapshotDone says that the watch has delivered all that stood in the bucket when it began.
	SnapshotDone struct{}

	// Written is the outcome of a Write effect. A Fault is permanent and ends the machine.
	Written struct {
		ID       WriteID
		Outcome  record.Outcome
		Revision uint64 // when Won
		Fault    error
		TooLarge bool // Fault says that the server takes no record of this size
		Denied   bool // Fault says that the user may not write this key
	}

	// WrittenTogether is the outcome of a WriteTogether effect. Refused means that none was stored
	// and none will be, for whatever reason. A Fault is permanent and ends the machine.
	WrittenTogether struct {
		ID       WriteID
		Outcome  record.Outcome
		Revision uint64 // of the last one, when Won
		Off      bool   // the store takes no writes together
		Fault    error
	}

	// Connection says that the connection was lost or is back.
	Connection struct{ Up bool }

	// Broken says that something permanent is wrong outside: the bucket is gone, or a permission is
	// missing.
	Broken struct{ Fault error }

	// Booked says that something of this process waits for the end of a session: a scheduler has
	// tasks of it in its state. So its missing lease is waited for, and it is ended.
	Booked struct {
		Peer    record.Peer
		Session uint64
	}

	// Unanswered says that a session has not answered for longer than one that lives would take. If
	// it is idle, it is ended at once: it has begun nothing, and does not once that is stored.
	Unanswered struct {
		Peer    record.Peer
		Session uint64
	}

	// Join takes part in one more role.
	Join struct{ Role RoleConfig }

	// Leave stops taking part in a role. With Vacate the role is given away after the drain, else
	// it is left to the end of the session. Done follows when the last term has drained and, with
	// Vacate, is given away.
	Leave struct {
		ID     CommandID
		Role   string
		Vacate bool
	}

	// StepDown ends the term of a role that this process holds; Epoch 0 means whichever.
	StepDown struct {
		ID    CommandID
		Role  string
		Epoch uint64
		Cause Cause
	}

	// Transfer hands a role to another instance, which is asked to confirm first.
	Transfer struct {
		ID     CommandID
		Role   string
		Epoch  uint64
		Target string
	}

	// Pause makes this process ineligible for a role, Resume eligible again. A paused leader steps
	// down.
	Pause struct {
		ID   CommandID
		Role string
	}
	Resume struct {
		ID   CommandID
		Role string
	}

	// Health reports what a health check says about this process for a role.
	Health struct {
		Role    string
		Healthy bool
	}

	// Returned says that the work of a term ended before its context did.
	Returned struct {
		Role   string
		Term   uint64
		Failed bool
	}

	// Drained says that the work and the callbacks of a term have ended, step 3 of the end of a
	// term.
	Drained struct {
		Role string
		Term uint64
	}

	// Validate asks for proof that a term is the present one.
	Validate struct {
		ID   CommandID
		Role string
		Term uint64 // 0: whichever is led now
	}

	// Describe replaces what the member record says beside the roles. A nil field stays as it is.
	Describe struct {
		ID     CommandID
		Meta   map[string]string
		Assign map[string]record.Workplace
		Told   map[string][]byte
	}

	// Busy keeps the session on short beats though it holds no role: it runs tasks.
	Busy struct{ Busy bool }

	// Asked is a control request of somebody else; Done answers it.
	Asked struct {
		ID      CommandID
		Request Request
	}

	// Answered ends an Ask effect: OK when the target confirmed that it is ready.
	Answered struct {
		Role   string
		Target string
		OK     bool
	}

	// Abandon gives a session up, though it could continue; a new one opens by itself.
	Abandon struct {
		Session uint64
		Reason  string
	}

	// Close drains every term, gives the roles away and ends the session, within Timeout.
	Close struct{ Timeout time.Duration }
)
