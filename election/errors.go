package election

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/shardcount"
)

// Causes of the end of a term: context.Cause of the work context is one of them.
var (
	ErrSessionLost = errors.New("election: session lost: no heartbeat was acknowledged and seen in time")
	ErrSteppedDown = errors.New("election: stepped down")
	ErrBalanced    = errors.New("election: given to a process that leads fewer roles")
	ErrFailedBack  = errors.New("election: given back to a better zone")
	ErrZoneDrained = errors.New("election: the zone is drained")
	ErrRolePaused  = errors.New("election: the role is paused")
	// ErrConditionEnded is the cause of a role with RoleConfig.While.
	ErrConditionEnded = errors.New("election: the role that this one depends on is not led here any more")
	ErrOutranked      = errors.New("election: handed over to a candidate of higher priority")
	ErrTransferred    = errors.New("election: transferred on request")
	ErrEvicted        = errors.New("election: the role's record was changed by somebody else")
	ErrUnhealthy      = errors.New("election: the health check failed")
	ErrDisconnected   = errors.New("election: disconnected for longer than the grace period")
	ErrClosed         = errors.New("election: session closed")
	// ErrWorkEnded is the cause when the work returned before its context had ended.
	ErrWorkEnded = errors.New("election: the work returned by itself")
)

// Errors of sessions and elections.
var (
	ErrBucketNotFound = errors.New("election: bucket not found")
	ErrBucketUnfit    = errors.New("election: bucket is not fit for elections")
	// ErrOldFormat is an ErrBucketUnfit: the records of the bucket have an earlier format than this
	// version reads. The error names the commands that replace the bucket.
	ErrOldFormat = fmt.Errorf("%w: it has an earlier format", ErrBucketUnfit)
	// ErrOtherBucket says that another bucket has the name of the one that was meant. See
	// OtherBucketError.
	ErrOtherBucket = errors.New("election: another bucket has this name")
	// ErrCopiedBucket says that the bucket is a copy of another one, or a restored backup of it. See
	// CopiedBucketError.
	ErrCopiedBucket = errors.New("election: the bucket is a copy")
	// ErrAdopting says that "rolectl bucket adopt" is at work, or was interrupted. Opening waits
	// for its end.
	ErrAdopting = errors.New("election: the bucket is being adopted")
	// ErrNoDomain says that a missing bucket was not created, because a JetStream domain answers
	// and no Domain is configured: each site of a system would make a bucket of its own.
	ErrNoDomain       = errors.New("election: no JetStream domain is configured")
	ErrStoreRegressed = errors.New(
		"election: revisions went back, since the bucket was restored or recreated: start the process again")
	ErrNewerRecord  = errors.New("election: our own lease was written by a later version of this library")
	ErrPermission   = errors.New("election: permission denied")
	ErrJetStreamOff = errors.New("election: JetStream is off")
	ErrConnClosed   = errors.New("election: the connection was closed")

	// ErrShardCount says that a group of roles is recorded in the bucket with another number of
	// shards, or that the record cannot be read. Two numbers would send one key to two shards.
	ErrShardCount = errors.New("election: the group has another number of shards")
	// ErrUnplaced says that all processes that could take a role lead as many as their MaxRoles
	// allows.
	ErrUnplaced = errors.New("election: nobody has room for the role: " +
		"raise MaxRoles, or start another process that takes part in it")

	ErrNotLeader    = errors.New("election: not the leader of the role")
	ErrWrongEpoch   = errors.New("election: the role is held at another epoch")
	ErrUnknownRole  = errors.New("election: the instance does not take part in the role")
	ErrBusy         = errors.New("election: the role is being handed over already")
	ErrNotCandidate = errors.New("election: the target is not a live, eligible candidate for the role")
	ErrDeclined     = errors.New("election: the target did not confirm that it is ready")
	ErrUnproven     = errors.New("election: leadership could neither be proved nor disproved")

	ErrAlreadyOpen    = errors.New("election: the session is open already, or was")
	ErrAlreadyStarted = errors.New(
		"election: started already; a stopped election cannot be started again, make a new one")
	ErrNotStarted    = errors.New("election: not started")
	ErrDuplicateRole = errors.New("election: the session takes part in this role already")
	ErrWorkerOnly    = errors.New("election: a worker-only session leads no role: leave out WorkerOnly, or the role")
	ErrInsideWork    = errors.New(
		"election: called by the work of the role, for whose return it waits: return from the work instead")
	ErrNoWork          = errors.New("election: nothing to run: give Run a function, set Lead, or register OnPromote")
	ErrSessionConflict = errors.New(
		"election: another election on this connection, bucket and instance has another session configuration")
)

// DuplicateInstanceError says that another live process uses our instance id.
type DuplicateInstanceError struct {
	Instance string
	// Session is the number of the other process's session.
	Session uint64
}

func (e *DuplicateInstanceError) Error() string {
	return fmt.Sprintf(
		"election: instance id %q is in use by live session %d of another process: give each process an InstanceID of its "+
			"own, or leave it empty",
		e.Instance, e.Session)
}

// WaitError is the error of an event.Fault that tells what this process waits for before it can
// lead. Nothing has failed: the wait ends by itself.
type WaitError struct {
	// For says what is waited for, and why.
	For string
	// Left is how much longer that takes at most, as far as is known.
	Left time.Duration
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("election: waits %s, %v left", e.For, max(e.Left.Round(100*time.Millisecond), 0))
}

// UndrainedError says that a session was closed while work still ran. The session was left to run
// out, so the roles stay held for up to TTL: no other process leads beside that work meanwhile.
type UndrainedError struct{ Roles []string }

func (e *UndrainedError) Error() string {
	return "election: closed before the work of " + strings.Join(e.Roles, ", ") + " had returned"
}

// BucketIdentity distinguishes a bucket from every other bucket of the same name. ID is random and
// made with the bucket; Cluster is where the bucket is now.
type BucketIdentity struct {
	ID, Domain, Cluster string
	Created             time.Time
}

// OtherBucketError says that another bucket has the name of the one that was opened, or of the one
// that BucketID names. A connection to another NATS system or JetStream domain leads to it, or the
// bucket was deleted and recreated. It is ErrOtherBucket.
type OtherBucketError struct {
	Bucket string
	// Opened is the bucket that was meant, Found the one that answers. If BucketID was refused,
	// only the ID of Opened is known.
	Opened, Found BucketIdentity
}

func (e *OtherBucketError) Error() string {
	return "election: " + (&natskv.OtherBucketError{
		Bucket: e.Bucket, Opened: natskv.Identity(e.Opened), Found: natskv.Identity(e.Found),
	}).Error()
}
func (e *OtherBucketError) Is(target error) bool { return target == ErrOtherBucket }

// CopiedBucketError says that the identity of a bucket was written for another place: it is a
// promoted mirror, a restored backup, or another copy. Epochs that the origin has given since are
// not in it, so they would be given twice. "rolectl bucket adopt" makes it a bucket of its own. It
// is ErrCopiedBucket.
type CopiedBucketError struct {
	Bucket string
	// Written is the bucket for which the identity was written, Found the one that has it now.
	Written, Found BucketIdentity
}

func (e *CopiedBucketError) Error() string {
	return "election: " + (&natskv.CopiedBucketError{
		Bucket: e.Bucket, Written: natskv.Identity(e.Written), Found: natskv.Identity(e.Found),
	}).Error()
}
func (e *CopiedBucketError) Is(target error) bool { return target == ErrCopiedBucket }

// TooLargeError says that the server would not take the member record of this process, which names
// its roles, its meta and its kinds of tasks. The request is refused, and everything else
// continues.
type TooLargeError struct {
	// Size is how many bytes the record would have, and Limit how many it may have: the smaller of
	// the server's max_payload and the bucket's max_msg_size, less the header.
	Size, Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("election: the member record of this process would have %d bytes, and %d are allowed: "+
		"use fewer or shorter names of roles and kinds and less meta, "+
		"or raise max_payload of the server or max_msg_size of the bucket", e.Size, e.Limit)
}

// NotConnectedError says that there is no connection to a server at the moment. It is
// nats.ErrDisconnected.
type NotConnectedError struct {
	// Servers are the URLs that are tried, without credentials.
	Servers []string
	// Err is why the last attempt failed, nil if the reason is unknown.
	Err error
}

func (e *NotConnectedError) Error() string {
	return "election: " + (*natskv.NotConnectedError)(e).Error()
}
func (e *NotConnectedError) Is(target error) bool { return target == nats.ErrDisconnected }
func (e *NotConnectedError) Unwrap() error        { return e.Err }

var causes = map[protocol.Cause]error{
	protocol.SessionLost:    ErrSessionLost,
	protocol.SteppedDown:    ErrSteppedDown,
	protocol.Outranked:      ErrOutranked,
	protocol.Transferred:    ErrTransferred,
	protocol.Evicted:        ErrEvicted,
	protocol.Unhealthy:      ErrUnhealthy,
	protocol.Disconnected:   ErrDisconnected,
	protocol.SessionClosed:  ErrClosed,
	protocol.WorkReturned:   ErrWorkEnded,
	protocol.WorkFailed:     ErrWorkEnded,
	protocol.Balanced:       ErrBalanced,
	protocol.FailedBack:     ErrFailedBack,
	protocol.ZoneDrained:    ErrZoneDrained,
	protocol.RolePaused:     ErrRolePaused,
	protocol.ConditionEnded: ErrConditionEnded,
}

var answers = map[error]error{
	protocol.ErrNotLeader:      ErrNotLeader,
	protocol.ErrWrongEpoch:     ErrWrongEpoch,
	protocol.ErrUnknownRole:    ErrUnknownRole,
	protocol.ErrBusy:           ErrBusy,
	protocol.ErrNotCandidate:   ErrNotCandidate,
	protocol.ErrDeclined:       ErrDeclined,
	protocol.ErrUnproven:       ErrUnproven,
	protocol.ErrStopped:        ErrClosed,
	protocol.ErrStoreRegressed: ErrStoreRegressed,
	protocol.ErrNewerRecord:    ErrNewerRecord,
}

// public turns an error of the core or of the store into one of ours, and keeps what it says. One
// of ours stays as it is.
func public(err error) error {
	if ours := (*kindError)(nil); err == nil || errors.As(err, &ours) {
		return err
	}
	if known, ok := answers[err]; ok {
		return known
	}
	var duplicate *protocol.DuplicateError
	if errors.As(err, &duplicate) {
		return &DuplicateInstanceError{duplicate.Instance, duplicate.Session}
	}
	var away *natskv.NotConnectedError
	if errors.As(err, &away) {
		return (*NotConnectedError)(away)
	}
	var unfit *natskv.UnfitError
	var denied *natskv.PermissionError
	var other *natskv.OtherBucketError
	var copied *natskv.CopiedBucketError
	var shards *shardcount.OtherError
	switch {
	case errors.As(err, &other):
		return &OtherBucketError{other.Bucket, BucketIdentity(other.Opened), BucketIdentity(other.Found)}
	case errors.As(err, &shards):
		return &kindError{ErrShardCount, err}
	case errors.As(err, &copied):
		return &CopiedBucketError{copied.Bucket, BucketIdentity(copied.Written), BucketIdentity(copied.Found)}
	case errors.Is(err, natskv.ErrAdopting):
		return &kindError{ErrAdopting, err}
	case errors.Is(err, natskv.ErrOtherBucket):
		return &kindError{ErrOtherBucket, err}
	case errors.Is(err, natskv.ErrNoDomain):
		return &kindError{ErrNoDomain, err}
	case errors.Is(err, natskv.ErrBucketNotFound):
		return &kindError{ErrBucketNotFound, err}
	case errors.Is(err, natskv.ErrOldFormat):
		return &kindError{ErrOldFormat, err}
	case errors.As(err, &unfit):
		return &kindError{ErrBucketUnfit, err}
	case errors.As(err, &denied):
		return &kindError{ErrPermission, err}
	case errors.Is(err, natskv.ErrJetStreamOff):
		return &kindError{ErrJetStreamOff, err}
	case errors.Is(err, nats.ErrConnectionClosed):
		return connClosed(err)
	}
	return err
}

// closed is the fault of a connection that was closed for good, with the advice that would have
// kept it.
func closed(nc *nats.Conn) error {
	if err := nc.LastError(); natsconn.Refused(err) {
		return fmt.Errorf("%w: %w: connect with nats.IgnoreAuthErrorAbort() to wait for new credentials", ErrConnClosed, err)
	}
	return connClosed(nats.ErrConnectionClosed)
}

// connClosed names what keeps a client from giving up.
func connClosed(err error) error {
	return &kindError{ErrConnClosed, fmt.Errorf("the connection was closed: leave it open, "+
		"and connect with nats.MaxReconnects(-1) (%w)", err)}
}

// kindError is an error of the store under the name that this package gives it.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return "election: " + e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
