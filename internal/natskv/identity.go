package natskv

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// metaID is the random id that creation writes into the metadata of a stream.
const metaID = "rolemanager.id"

// Identity distinguishes a bucket, or a stream, from every other one of the same name.
type Identity struct {
	// ID is random, and made with the bucket. Domain is the JetStream domain that keeps the bucket,
	// usually empty. Cluster is the name of the cluster that keeps it now, empty for a single
	// server: a bucket can move to another cluster, and is still the same bucket.
	ID, Domain, Cluster string
	// Created is when it was created, by its server's clock.
	Created time.Time
}

func newID() string { return rand.Text() }

// repairedID is the id that a repair gives to a bucket without one. It follows from what every
// repairer reads, so that several at once give the same. Two streams have the same moment of
// creation only if one is a copy of the other.
func repairedID(s *jetstream.StreamInfo) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s@%d", s.Config.Name, s.Created.UnixNano()))
	return base32.StdEncoding.EncodeToString(sum[:])[:26] // as long as a random one
}

// serverID matches the id of a server. A leaf node without a name has it for the name of its
// cluster, and gets another one at each start.
var serverID = regexp.MustCompile(`^N[A-Z2-7]{55}$`)

// identityOf reads the identity from the server's answer.
func identityOf(info *jetstream.StreamInfo) Identity {
	i := Identity{ID: info.Config.Metadata[metaID], Domain: info.Domain, Created: info.Created}
	if info.Cluster != nil && !serverID.MatchString(info.Cluster.Name) {
		i.Cluster = info.Cluster.Name
	}
	return i
}

// StreamIdentity asks for the identity of a stream. Errors: NotFoundError, and those of Open.
func (r Reach) StreamIdentity(ctx context.Context, nc *nats.Conn, stream string) (Identity, error) {
	info, err := infoOf(ctx, nc, place{stream: stream, reach: r})
	if err != nil {
		return Identity{}, err
	}
	return info.identity(), nil
}

// HasID reports whether a stream has an id.
func HasID(info *jetstream.StreamInfo) bool { return identityOf(info).ID != "" }

// Same reports whether o is still the bucket that was opened as i. It may have moved to another
// cluster, and its JetStream may have been given a domain.
func (i Identity) Same(o Identity) bool {
	return i.ID == o.ID && i.Created.Equal(o.Created) && (i.Domain == o.Domain || i.Domain == "")
}

func (i Identity) String() string {
	s := "id " + i.ID
	if i.ID == "" {
		s = "no id"
	}
	if i.Domain != "" {
		s += ", domain " + i.Domain
	}
	if i.Cluster != "" {
		s += ", cluster " + i.Cluster
	}
	return s + ", created " + i.Created.UTC().Format(time.RFC3339)
}

// ErrOtherBucket means that another bucket, or another stream, has the name of the one that was
// opened. See OtherBucketError.
var ErrOtherBucket = errors.New("another one has this name")

// OtherBucketError is ErrOtherBucket with both buckets, or both streams.
type OtherBucketError struct {
	Bucket string
	// Stream is set instead of Bucket for a plain stream.
	Stream string
	// Opened is the bucket that is meant. If only its id is known, the rest is zero.
	Opened Identity
	// Found is the bucket that answers now.
	Found Identity
}

func (e *OtherBucketError) Error() string {
	at := place{bucket: e.Bucket, stream: e.Stream}
	if o, f := e.Opened, e.Found; o.ID == f.ID && o.Created.Equal(f.Created) && !o.Created.IsZero() {
		return fmt.Sprintf("%s answers from JetStream domain %q, and was in %q when it was opened: "+
			"connect to the servers of one NATS system only, or, if the domain was renamed, start again",
			at, f.Domain, o.Domain)
	}
	if adopting(e.Found.ID) {
		return fmt.Sprintf("bucket %q is being adopted: start again", e.Bucket)
	}
	meant := e.Opened.String()
	if e.Opened.Created.IsZero() {
		meant = "id " + e.Opened.ID
	}
	return fmt.Sprintf("%s is not the one that was opened (%s); another one answers (%s): "+
		"connect to the servers of one NATS system only and set the domain, or, if the %s was recreated, start again",
		at, meant, e.Found, at.kind())
}

func (e *OtherBucketError) Is(target error) bool { return target == ErrOtherBucket }

// Identify asks which bucket answers on nc now. Errors: OtherBucketError, and those of Open.
func (b *Bucket) Identify(ctx context.Context, nc *nats.Conn) error {
	_, err := b.identify(ctx, nc)
	return err
}

// identify is Identify, and returns the identity that was found.
func (b *Bucket) identify(ctx context.Context, nc *nats.Conn) (Identity, error) {
	info, err := bucketInfo(ctx, nc, b.place())
	if err != nil {
		return Identity{}, err
	}
	found := info.identity()
	if !b.identity.Same(found) {
		err = &OtherBucketError{Bucket: b.name, Opened: b.identity, Found: found}
	}
	return found, err
}

// ErrNoDomain means that a bucket or a stream is missing and was not created, because a JetStream
// domain answers that nobody has named. See NoDomainError.
var ErrNoDomain = errors.New("no JetStream domain is configured")

// NoDomainError is ErrNoDomain with both ways out.
type NoDomainError struct {
	// The missing thing, such as `bucket "roles"`, and the command that creates it.
	What, Make string
	// Domain is the domain that answers.
	Domain string
}

func (e *NoDomainError) Error() string {
	return fmt.Sprintf("%s does not exist in JetStream domain %q, and is not created there by itself: "+
		"each domain of a NATS system would get one of its own. Set Domain to the domain that keeps it, "+
		"or create it once with %q",
		e.What, e.Domain, e.Make)
}

func (e *NoDomainError) Is(target error) bool { return target == ErrNoDomain }

// NamesakeError is ErrNoDomain with the bucket of that name that somebody uses elsewhere.
type NamesakeError struct {
	Bucket string
	Found  Identity
	Make   string // the command that creates the missing one
}

func (e *NamesakeError) Error() string {
	return fmt.Sprintf("bucket %q does not exist here, and is not created: processes that are connected to this "+
		"system use another bucket of that name, %s, and two buckets have two leaders. Give each JetStream of a leaf "+
		"link a domain and set Domain to that of the bucket, or create another one here with %q",
		e.Bucket, e.Found, e.Make)
}

func (e *NamesakeError) Is(target error) bool { return target == ErrNoDomain }

// MayCreate returns a NoDomainError if a JetStream domain answers and the Reach names none. A
// program asks before it creates what is missing; a person who types the command has decided.
func (r Reach) MayCreate(ctx context.Context, nc *nats.Conn, what, command string) error {
	if !r.IsZero() {
		return nil
	}
	domain, err := r.AnsweringDomain(ctx, nc)
	if err != nil {
		return fmt.Errorf("which JetStream domain answers: %w", err)
	}
	if domain != "" {
		return &NoDomainError{What: what, Make: command + " --js-domain " + domain, Domain: domain}
	}
	return nil
}

// Located adds to a NotFoundError that the server is too old, else the domain that answers, if the
// Reach names none: the bucket may be in another one. It returns any other error as it is, and asks
// nothing for it.
func (r Reach) Located(ctx context.Context, nc *nats.Conn, err error) error {
	missing := (*NotFoundError)(nil)
	if !errors.As(err, &missing) {
		return err
	}
	if !r.IsZero() { // the server that it means need not be the one that is connected
		return err
	}
	if old := tooOld(nc.ConnectedServerVersion()); old != "" && missing.Bucket != "" {
		return &NotFoundError{Bucket: missing.Bucket, Reach: missing.Reach, Old: old}
	}
	domain, unanswered := r.AnsweringDomain(ctx, nc)
	if unanswered != nil || domain == "" { // a user who may not ask gets the shorter error
		return err
	}
	return &NotFoundError{Bucket: missing.Bucket, Stream: missing.Stream, Reach: r, Domain: domain}
}

// connection counts the connections that nc has had. A question and a write reach one server if the
// count has not changed in between.
func connection(nc *nats.Conn) uint64 { return nc.Stats().Reconnects }
