package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Backup is what a backup of a bucket says about the bucket. An adoption removes every record, so
// the records of a backup are not needed to restore it.
type Backup struct {
	bucket string
	config map[string]json.RawMessage // as the server sent it, with fields that this version does not know
	info   streamAnswer
}

// ErrNoBackup means that something is not a backup of this bucket. See NoBackupError.
var ErrNoBackup = errors.New("not a backup of this bucket")

// NoBackupError is ErrNoBackup with the reason, which names the fix.
type NoBackupError struct{ Bucket, Reason string }

func (e *NoBackupError) Error() string {
	return fmt.Sprintf("not a backup of bucket %q: %s", e.Bucket, e.Reason)
}

func (e *NoBackupError) Is(target error) bool { return target == ErrNoBackup }

// ReadBackup reads the file backup.json of a backup that "nats stream backup" has made: the answer
// of the server with the configuration and the state of the stream. Errors: NoBackupError, and
// UnfitError for a bucket that adopting does not make fit.
func ReadBackup(bucket string, data []byte) (*Backup, error) {
	b := &Backup{bucket: bucket}
	refused := func(reason string) (*Backup, error) { return nil, &NoBackupError{bucket, reason} }
	var raw rawAnswer
	if err := errors.Join(json.Unmarshal(data, &raw), json.Unmarshal(data, &b.info)); err != nil {
		return refused("its backup.json cannot be read: " + err.Error())
	}
	b.config = raw.Config
	at, name := bucketPlace(bucket, Reach{}), b.info.Config.Name
	switch {
	case name == "":
		return refused("its backup.json names no stream: give a directory that \"nats stream backup\" has written")
	case name != at.stream:
		return refused(fmt.Sprintf("it is of stream %q: a backup is restored under its own name", name))
	case b.info.Config.Metadata[metaFormat] == "":
		return refused("it is of an ordinary KV bucket: restore that with \"nats stream restore\"")
	}
	if most := uint64(1) << 62; b.Last() > most || b.floor() > most {
		return refused("its backup.json has an impossible revision")
	}
	if _, lasting := repairs(at, &b.info.StreamInfo); lasting || earlierFormat(&b.info.StreamInfo) > 0 {
		return nil, unfit(at, &b.info.StreamInfo, "")
	}
	return b, nil
}

// MaxTTL is the longest TTL of the bucket when the backup was made.
func (b *Backup) MaxTTL() time.Duration { return longestTTL(&b.info.StreamInfo) }

// Replicas is the number of servers that kept the bucket.
func (b *Backup) Replicas() int { return b.info.Config.Replicas }

// Storage is where they kept it.
func (b *Backup) Storage() jetstream.StorageType { return b.info.Config.Storage }

// Last is the last revision that is in the backup.
func (b *Backup) Last() uint64 { return b.info.State.LastSeq }

// floor is a revision above every one that the bucket can have given since the backup.
func (b *Backup) floor() uint64 { return floorAfter(&b.info, time.Now()) }

// Remake creates a bucket that is missing, with the configuration that it had, empty and marked as
// one that is being adopted: nobody opens it before an adoption has ended. It leaves a bucket that
// exists as it is, and reports which it was. Errors: PermissionError, and those of the API.
func (o *Owner) Remake(ctx context.Context, b *Backup) (made bool, err error) {
	_, err = bucketInfo(ctx, o.nc, o.at)
	if !errors.Is(err, ErrBucketNotFound) {
		return false, err
	}
	if err := oldServer(o.at.bucket, o.nc); err != nil {
		return false, err
	}
	cfg, err := b.marked(o.at)
	if err != nil {
		return false, err
	}
	err = makeStream(ctx, o.nc, o.at, cfg)
	switch {
	case hasCode(err, codeNameInUse): // somebody else was first
		return false, nil
	case err != nil:
		return false, fmt.Errorf("create bucket %q from its backup: %w", o.at.bucket, sizeRefused(err))
	}
	return true, nil
}

// marked is the configuration of the bucket as it begins: fit, at home nowhere yet, and above every
// revision that it has given, so that no late write of one of its sessions finds what it expects.
func (b *Backup) marked(at place) (map[string]json.RawMessage, error) {
	changes, _ := repairs(at, &b.info.StreamInfo)
	meta := metadata(changes, &b.info.StreamInfo)
	for _, home := range []string{metaDomain, metaCluster, metaFormer, metaCreated} {
		delete(meta, home)
	}
	floor := b.floor()
	meta[metaID], meta[metaFloor] = beingAdopted+newID(), strconv.FormatUint(floor, 10)
	changes["metadata"], changes["first_seq"] = meta, floor
	return changed(b.config, changes)
}
