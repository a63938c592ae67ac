package natskv

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The texts carry no package prefix, because the public packages wrap them and add their own.
var (
	// ErrBucketNotFound means that the bucket does not exist, or no longer exists. See
	// NotFoundError.
	ErrBucketNotFound = errors.New("bucket not found")
	// ErrJetStreamOff means that JetStream is disabled on the server or for the account.
	ErrJetStreamOff = errors.New("JetStream is off: enable it on the server (jetstream {}) and for the account")
	// ErrRefused is the Result.Err of a refused write.
	ErrRefused = errors.New("refused: wrong last revision")
	// ErrTimeout is the Result.Err of a write that was not answered in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrNoLeader is the Result.Err of a write that nobody received although the bucket exists: its
	// stream has no leader now.
	ErrNoLeader = errors.New("the bucket has no stream leader just now")
	// ErrClosed is the Result.Err of a write that was open when its writer ended.
	ErrClosed = errors.New("writer closed")
	// ErrInvalidKey means that a key is not a valid KV key (letters, digits and -/_=. without dots
	// at the ends).
	ErrInvalidKey = errors.New("invalid key")
	// ErrOldFormat means that the records of a bucket have an earlier format than this version reads.
	// See UnfitError.
	ErrOldFormat = errors.New("an earlier format")
	// ErrOrdinary means that a bucket was made for other data. See UnfitError.
	ErrOrdinary = errors.New("an ordinary KV bucket")
	// ErrWatchLost ends a watch that missed something, or that was silent for longer than a live
	// watch is. A new watch begins with a complete snapshot.
	ErrWatchLost = errors.New("watch lost")
)

// NotFoundError is ErrBucketNotFound with the command that makes the bucket.
type NotFoundError struct {
	Bucket string
	// Stream is set instead of Bucket for a plain stream.
	Stream string
	// Reach is where the bucket was looked for.
	Reach Reach
	// Domain is the JetStream domain that has answered, if that is known.
	Domain string
	// Old says that the server is too old for a bucket, "" if it is not: that is to be fixed first.
	Old string
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Old != "":
		return fmt.Sprintf("bucket %q not found, and %s; then make it with %q", e.Bucket, e.Old,
			Command(Config{Bucket: e.Bucket, Reach: e.Reach}))
	case e.Stream != "" && e.Domain != "":
		return fmt.Sprintf("stream %q not found in JetStream domain %q: set Domain to the domain that has it", e.Stream,
			e.Domain)
	case e.Stream != "":
		return fmt.Sprintf("stream %q not found", e.Stream)
	}
	command := Command(Config{Bucket: e.Bucket, Reach: e.Reach})
	if e.Domain != "" {
		return fmt.Sprintf("bucket %q not found in JetStream domain %q: set Domain to the domain that has it, "+
			"or make it there with %q", e.Bucket, e.Domain, command+" --js-domain "+e.Domain)
	}
	return fmt.Sprintf("bucket %q not found: make it with %q", e.Bucket, command)
}

func (e *NotFoundError) Is(target error) bool { return target == ErrBucketNotFound }

// UnfitError lists the faults that make a bucket unusable. Every fault names its fix.
type UnfitError struct {
	Bucket string
	// Stream is set instead of Bucket for a plain stream.
	Stream string
	Faults []string
	// Format is set when the records of a bucket have an earlier format than this version reads.
	// Then the error is ErrOldFormat too, and the only fault names the commands that replace the
	// bucket.
	Format int
	// Ordinary is set when the bucket was made for other data. Then the error is ErrOrdinary too, and
	// the only fault names the command that makes another bucket.
	Ordinary bool
}

func (e *UnfitError) Is(target error) bool {
	return target == ErrOldFormat && e.Format > 0 || target == ErrOrdinary && e.Ordinary
}

func (e *UnfitError) Error() string {
	what := fmt.Sprintf("bucket %q", e.Bucket)
	if e.Stream != "" {
		what = fmt.Sprintf("stream %q", e.Stream)
	}
	if len(e.Faults) == 1 {
		return fmt.Sprintf("%s is unfit: %s", what, e.Faults[0])
	}
	return fmt.Sprintf("%s is unfit:\n- %s", what, strings.Join(e.Faults, "\n- "))
}

// PermissionError names the subject for which the server denied a permission.
type PermissionError struct {
	Subject string
	// Subscribe is true when the server denied subscribing, and false when it denied publishing.
	Subscribe bool
}

func (e *PermissionError) Error() string {
	verb := "publish to"
	if e.Subscribe {
		verb = "subscribe to"
	}
	text := fmt.Sprintf("permission denied: this user may not %s %q", verb, e.Subject)
	if e.Subscribe && strings.HasPrefix(e.Subject, "_INBOX") { // of the client, or of a manager
		text += ": connect with nats.CustomInboxPrefix and the prefix that this user may use, such as _INBOX_<user>; " +
			"a manager that connects by itself has _INBOX_<InstanceID>, so set its InstanceID"
	}
	return text
}

func (e *PermissionError) Is(target error) bool { return target == nats.ErrPermissionViolation }

// NotConnectedError means that the connection is down.
type NotConnectedError struct {
	// Servers are the URLs that the client tries, without credentials.
	Servers []string
	// Err is why the last attempt failed. It is nil when the connection does not report the reason.
	Err error
}

// Error leaves out the local ports, which change with each attempt.
func (e *NotConnectedError) Error() string {
	servers := strings.Join(e.Servers, ", ")
	if e.unanswered() {
		return "no NATS server answers at " + servers + ": start one there (nats-server -js), or connect to another URL"
	}
	err := e.Err
	if operation := (*net.OpError)(nil); errors.As(err, &operation) {
		err = operation.Err
	}
	return fmt.Sprintf("cannot connect to %s: %v", servers, err)
}

// unanswered reports whether, as far as is known, no server has answered.
func (e *NotConnectedError) unanswered() bool {
	late := net.Error(nil)
	return e.Err == nil || errors.Is(e.Err, nats.ErrNoServers) || errors.Is(e.Err, syscall.ECONNREFUSED) ||
		errors.As(e.Err, &late) && late.Timeout()
}

func (e *NotConnectedError) Is(target error) bool { return target == nats.ErrDisconnected }
func (e *NotConnectedError) Unwrap() error        { return e.Err }

// Error codes of the JetStream API (nats-server errors.json).
const (
	codeNoPeers           = 10005
	codeMaxConsumers      = 10026
	codeAccountNotFound   = 10035
	codeOffForAccount     = 10039
	codeStreamNotMade     = 10049
	codeInvalidConfig     = 10052
	codeTooLarge          = 10054
	codeNameInUse         = 10058
	codeStreamNotFound    = 10059
	codeOtherStream       = 10060
	codeSubjectOverlap    = 10065
	codeWrongLastRevision = 10071
	codeNoReplicas        = 10074
	codeOff               = 10076
	codeHeaderTooLarge    = 10097
	codeSealed            = 10109
	codeMaxBytesRequired  = 10113
	codeNoLimits          = 10120
	codeMaxBytesExceeded  = 10122
	codeMoving            = 10124
	codeConflict          = 10164
	codeInvalidTTL        = 10165
	codeTTLOff            = 10166
	codeBatchesOff        = 10174
	codeBatchIncomplete   = 10176
	codeBatchHeader       = 10177
	codeBatchTooLarge     = 10199
	codeBatchDuplicate    = 10201
	codeTooManyBatches    = 10210
	codeChanging          = 10226
)

// TooLarge reports whether err says that the message has more bytes than the server, or the bucket,
// takes.
func TooLarge(err error) bool {
	return errors.Is(err, nats.ErrMaxPayload) || hasCode(err, codeTooLarge)
}

// lasting are the codes that will be the same at the next attempt.
var lasting = []jetstream.ErrorCode{
	codeAccountNotFound, codeOffForAccount, codeInvalidConfig, codeTooLarge, codeStreamNotFound, codeOtherStream,
	codeSubjectOverlap, codeNoReplicas, codeOff, codeHeaderTooLarge, codeSealed, codeMaxBytesRequired,
	codeNoLimits, codeMaxBytesExceeded, codeInvalidTTL, codeTTLOff,
}

// Permanent reports whether the same attempt would end with err again: the bucket is gone or unfit,
// a server reports that JetStream is off, a permission is missing, the connection is closed for
// good, or the write itself is impossible. If nobody answers for JetStream, the error is
// ErrJetStreamOff but not permanent, because a server that is shutting down looks the same.
func Permanent(err error) bool {
	if silent := (*silentAPI)(nil); errors.As(err, &silent) {
		return false
	}
	for _, target := range []error{
		ErrBucketNotFound, ErrOtherBucket, ErrCopiedBucket, ErrNoDomain, ErrJetStreamOff, ErrInvalidKey, ErrClosed,
		nats.ErrPermissionViolation, nats.ErrConnectionClosed, nats.ErrMaxPayload, nats.ErrHeadersNotSupported,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	if unfit := (*UnfitError)(nil); errors.As(err, &unfit) {
		return true
	}
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
		for _, code := range lasting {
			if api.ErrorCode == code {
				return true
			}
		}
	}
	return false
}

// fromAPI turns an error of the JetStream API about a store into the error of this package.
func fromAPI(at place, e *jetstream.APIError) error {
	switch e.ErrorCode {
	case codeStreamNotFound:
		return at.notFound()
	case codeOff, codeOffForAccount:
		return fmt.Errorf("%w (%s)", ErrJetStreamOff, e.Description)
	}
	return e
}
