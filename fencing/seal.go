package fencing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

const sealVersion = 1

// patience is how many reads in a row may show an old seal, about 2 s with the pauses between them.
const patience = 12

// sealRecord is the value of the seal. It holds a hash of the token's id, so that the bucket's
// readers cannot pass for the holder.
type sealRecord struct {
	Version int    `json:"v"`
	Role    string `json:"role"`
	Holder  string `json:"holder"`
	Epoch   uint64 `json:"epoch"`
	Seq     uint32 `json:"seq,omitempty"`
	IDHash  string `json:"id_hash"`
	// Bucket and BucketID are the bucket of roles that has given the epoch, "" if that is not known.
	Bucket   string `json:"bucket,omitempty"`
	BucketID string `json:"bucket_id,omitempty"`
	// By marks the store that wrote the seal. No decision depends on it.
	By string `json:"by"`
}

func (s *Store) sealRecord() sealRecord {
	rec := sealRecord{
		Version: sealVersion, Role: s.token.Role, Holder: s.token.Holder, Epoch: s.token.Epoch, Seq: s.token.Seq,
		IDHash: idHash(s.token), By: s.self,
	}
	if from := s.token.source; from != nil {
		rec.Bucket, rec.BucketID = from.Bucket, from.ID
	}
	return rec
}

// foreign reports whether a token is of another bucket of roles than a seal. A bucket that was
// adopted or recreated has a new id and its old name, and later epochs: only if they have gone back
// it is another one.
func foreign(theirs, ours Token) bool {
	a, b := theirs.source, ours.source
	return a != nil && b != nil && (a.Bucket != b.Bucket || a.ID != b.ID && theirs.Compare(ours) > 0)
}

func idHash(t Token) string {
	sum := sha256.Sum256(append([]byte("rolemanager seal v1\x00"), t.id.value[:]...))
	return hex.EncodeToString(sum[:])
}

// readSeal reads the seal from the stream's leader, or from a former leader that has not noticed
// yet that it was replaced. The seal may be old, but it was really written. Seals only grow: a
// later term in the seal is proof, and an equal or earlier term must be confirmed by a
// compare-and-swap. Revision 0 says that the bucket has no seal.
func (s *Store) readSeal(ctx context.Context) (rec sealRecord, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, streamOf(s.bucket))
	if err != nil {
		return rec, 0, fmt.Errorf("read seal: %w", err)
	}
	msg, err := stream.GetLastMsgForSubject(ctx, subjectOf(s.bucket, sealKey))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return rec, 0, nil
	}
	if err != nil {
		return rec, 0, fmt.Errorf("read seal: %w", err)
	}
	if rec, is := decodeSeal(msg.Data); is {
		return rec, msg.Sequence, nil
	}
	return rec, 0, fmt.Errorf("%w: %q at revision %d is not a seal of version %d", ErrSeal, sealKey, msg.Sequence,
		sealVersion)
}

// decodeSeal reads the value at the key of the seal, and reports whether it is a seal.
func decodeSeal(data []byte) (rec sealRecord, is bool) {
	err := json.Unmarshal(data, &rec)
	return rec, err == nil && rec.Version == sealVersion && rec.Role != "" && rec.Epoch != 0
}

// judge compares a stored seal with our token: ours says that the seal is of our own term, earlier
// that we may replace it.
func (s *Store) judge(rec sealRecord) (ours bool, err error) {
	theirs := Token{Role: rec.Role, Holder: rec.Holder, Epoch: rec.Epoch, Seq: rec.Seq}
	if rec.Bucket != "" {
		theirs.source = &Source{rec.Bucket, rec.BucketID}
	}
	switch c := theirs.Compare(s.token); {
	case theirs.Role != s.token.Role:
		return false, &RoleError{Want: theirs.Role, Token: s.token}
	case foreign(theirs, s.token):
		return false, &SourceError{Store: s.bucket, Token: s.token, High: theirs}
	case c > 0:
		return false, &StaleError{Token: s.token, High: theirs}
	case c < 0:
		return false, nil
	case theirs.Holder != s.token.Holder || rec.IDHash != idHash(s.token):
		return false, &ConflictError{Token: s.token, High: theirs}
	default:
		return true, nil
	}
}

// open seals the bucket. A seal of our own term is used unchanged: another store of the term wrote
// it, or we did and the acknowledgement was lost.
func (s *Store) open(ctx context.Context) error {
	for wait := pauses(); ; {
		rec, revision, err := s.readSeal(ctx)
		if errors.Is(err, ErrSeal) || lasting(err) {
			return err
		}
		if err == nil && revision != 0 {
			ours, err := s.judge(rec)
			if err != nil {
				return err
			}
			if ours {
				s.seal, s.seen = revision, revision
				return nil
			}
		}
		if err == nil && revision == 0 { // the first seal, after which the keys are the role's own
			_, err = s.reach.OpenWithout(ctx, s.nc, s.bucket, "c.lease.>", "it is a bucket of roles: give the store a bucket "+
				"of its own, with another name")
			if unfit := (*natskv.UnfitError)(nil); errors.As(err, &unfit) {
				return err
			}
		}
		if err == nil {
			var v verdict
			s.seal, v, err = s.attempt(ctx, s.sealing(revision))
			switch v {
			case stored:
				return nil
			case hopeless, failed:
				return fmt.Errorf("write seal: %w", err)
			}
			// Refused: the read was old, or another store was faster. Unknown: if our seal is
			// there, it has landed. A copy that arrives later is refused, or moves a seal of ours,
			// which the next write finds out.
		}
		if err := pause(ctx, wait, err); err != nil {
			return fmt.Errorf("write seal: %w", err)
		}
	}
}

// sealing is the write of our seal over the seal at revision.
func (s *Store) sealing(revision uint64) *nats.Msg {
	data, err := json.Marshal(s.sealRecord())
	if err != nil {
		panic(err) // strings and numbers only
	}
	m := s.message(sealKey, data)
	onlyWhile(m, m.Subject, revision)
	return m
}

// settle makes sure that no write under way can land any more, so that a new write may be made. The
// caller holds the turn.
//
// Invariant: when settle returns nil, every write of this store that was not acknowledged names a
// seal that is not the bucket's seal. Such a write is refused for good, or has already landed at a
// revision below seal.
func (s *Store) settle(ctx context.Context) error {
	for wait := pauses(); s.doubtful || s.ended != nil; {
		if s.ended != nil {
			return s.ended
		}
		revision, v, err := s.attempt(ctx, s.sealing(s.seal))
		switch v {
		case stored:
			s.seal, s.doubtful = revision, false
			return nil
		case refused: // our own lost renewal or another store has already moved the seal
			return s.adopt(ctx)
		case hopeless, failed:
			return fmt.Errorf("renew seal: %w", err)
		}
		if err := pause(ctx, wait, err); err != nil {
			return fmt.Errorf("renew seal: %w", err)
		}
	}
	return nil
}

// adopt finds the seal that has replaced the seal we knew. If another store of our own term has
// renewed the seal, we continue under the new one. If a later term has sealed the bucket, this
// store has ended. Call adopt only after a refusal has proved that the seal has moved: a read that
// still shows the old seal is then too old, and is repeated.
func (s *Store) adopt(ctx context.Context) error {
	behind := 0
	for wait := pauses(); ; {
		rec, revision, err := s.readSeal(ctx)
		if errors.Is(err, ErrSeal) {
			s.ended = err
		}
		if errors.Is(err, ErrSeal) || lasting(err) {
			return err
		}
		if err == nil && revision <= s.seal {
			// A former leader of the stream may answer for a moment. If the old seal still shows
			// after that, the seal has not moved but is gone: it was removed, or an older state of
			// the bucket was restored. Nothing was decided, so a later write may look again.
			if behind++; behind == patience {
				return fmt.Errorf("%w: the server refuses revision %d, but shows none above it", ErrSeal, s.seal)
			}
		}
		if err == nil && revision > s.seal {
			ours, err := s.judge(rec)
			if err == nil && !ours {
				err = fmt.Errorf("%w: an earlier term's seal is at revision %d, after ours: the bucket was restored or recreated",
					ErrSeal, revision)
			}
			s.seen, s.doubtful = max(s.seen, revision), false
			if err != nil {
				s.ended = err
				return err
			}
			s.seal = revision
			return nil
		}
		if err := pause(ctx, wait, err); err != nil {
			return fmt.Errorf("read the seal that took the place of revision %d: %w", s.seal, err)
		}
	}
}
