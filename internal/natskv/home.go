package natskv

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The metadata of a bucket's stream say where the bucket was when its id was written. A copy of the
// stream has the metadata of its origin, and is elsewhere.
const (
	metaDomain  = "rolemanager.domain"
	metaCluster = "rolemanager.cluster"
	// metaFormer is the cluster that a bucket is leaving, while it is being moved.
	metaFormer  = "rolemanager.former_cluster"
	metaCreated = "rolemanager.created"
	// metaFloor is the revision at which an adopted bucket begins.
	metaFloor = "rolemanager.floor"
)

// beingAdopted begins the id of a bucket that is being adopted.
const beingAdopted = "adopting:"

func adopting(id string) bool { return strings.HasPrefix(id, beingAdopted) }

// homeOf is the metadata that name the place where the stream is now.
func homeOf(s *jetstream.StreamInfo) map[string]string {
	i := identityOf(s)
	return map[string]string{metaDomain: i.Domain, metaCluster: i.Cluster, metaCreated: stamp(i.Created)}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// atHome reports whether the metadata name the present place in full.
func atHome(s *jetstream.StreamInfo) bool {
	for key, value := range homeOf(s) {
		if said, found := s.Config.Metadata[key]; !found || said != value {
			return false
		}
	}
	return true
}

// fullyDescribed reports whether the metadata name a place in full, whichever it is.
func fullyDescribed(s *jetstream.StreamInfo) bool {
	for key := range homeOf(s) {
		if _, found := s.Config.Metadata[key]; !found {
			return false
		}
	}
	return true
}

// written is the identity of a bucket as its metadata have it.
func written(s *jetstream.StreamInfo) Identity {
	m := s.Config.Metadata
	created, _ := time.Parse(time.RFC3339Nano, m[metaCreated]) // zero: it does not say so
	return Identity{ID: m[metaID], Domain: m[metaDomain], Cluster: m[metaCluster], Created: created}
}

// copied returns a CopiedBucketError if the metadata name another place than the present one. A
// part that they leave out is not compared: a process that may not update the stream cannot write
// it.
func copied(bucket string, s *jetstream.StreamInfo) error {
	m, found, wrote := s.Config.Metadata, identityOf(s), written(s)
	same := func(key, present string) bool {
		said, is := m[key]
		return !is || said == present
	}
	former, moving := m[metaFormer]
	created := same(metaCreated, stamp(found.Created))
	switch {
	case created && same(metaDomain, found.Domain) && same(metaCluster, found.Cluster):
		return nil
	case created && same(metaDomain, found.Domain) && moving && former == found.Cluster:
		return nil
	}
	return &CopiedBucketError{Bucket: bucket, Written: wrote, Found: found}
}

// ErrCopiedBucket means that a bucket is a copy. See CopiedBucketError.
var ErrCopiedBucket = errors.New("the bucket is a copy")

// CopiedBucketError is ErrCopiedBucket with both places.
type CopiedBucketError struct {
	Bucket string
	// Written is the bucket for which the metadata were written, Found the one that has them now.
	Written, Found Identity
}

func (e *CopiedBucketError) Error() string {
	w, f := e.Written, e.Found
	differs := fmt.Sprintf("in %s, and is in %s", where(w), where(f))
	moved := fmt.Sprintf("; if it is the same bucket and its servers were given another domain or cluster name, "+
		"with \"rolectl bucket move %s --here\"", e.Bucket)
	if !w.Created.Equal(f.Created) {
		differs = fmt.Sprintf("for the stream of %s, and this one was created at %s",
			w.Created.UTC().Format(time.RFC3339), f.Created.UTC().Format(time.RFC3339))
		moved = ""
	}
	return fmt.Sprintf("bucket %q is a copy: its identity was written %s. Epochs that were given since are not in it: "+
		"make it a bucket of its own with \"rolectl bucket adopt %[1]s\"%[3]s", e.Bucket, differs, moved)
}

func (e *CopiedBucketError) Is(target error) bool { return target == ErrCopiedBucket }

func where(i Identity) string {
	domain, cluster := "no domain", "no cluster"
	if i.Domain != "" {
		domain = fmt.Sprintf("domain %q", i.Domain)
	}
	if i.Cluster != "" {
		cluster = fmt.Sprintf("cluster %q", i.Cluster)
	}
	return domain + " and " + cluster
}

// ErrAdopting means that a bucket is being adopted. It passes, unless adopt was interrupted.
var ErrAdopting = errors.New("the bucket is being adopted")

// AdoptingError is ErrAdopting with the bucket.
type AdoptingError struct{ Bucket string }

func (e *AdoptingError) Error() string {
	return fmt.Sprintf("bucket %q is being adopted: wait until that has ended; if it was interrupted, "+
		"run \"rolectl bucket adopt %s\" again", e.Bucket, e.Bucket)
}

func (e *AdoptingError) Is(target error) bool { return target == ErrAdopting }
