package roles

import (
	"errors"

	"github.com/rolemanager/rolemanager/election"
)

// ErrShardCount says that a group of shards is recorded in the bucket with another number, or that
// the record cannot be read. It is election.ErrShardCount.
var ErrShardCount = election.ErrShardCount

// Errors of a [Manager]. The manager returns the errors of sessions and elections unchanged: see
// package election.
var (
	// ErrAlreadyRun says that Run was called before: a Manager runs once.
	ErrAlreadyRun = errors.New("roles: Run was called already: make a new Manager to run again")
	// ErrNotRunning says that there is nothing to steer before Run.
	ErrNotRunning = errors.New("roles: the manager is not running: call Run first")
	// ErrEnded says that Run is ending or has ended.
	ErrEnded = errors.New("roles: the manager has ended")
	// ErrUnknownRole says that the manager has no role of that name.
	ErrUnknownRole = errors.New("roles: no such role")
)
