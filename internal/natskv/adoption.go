package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Adoption makes a stream that continues the revisions of another bucket, or earlier ones of its
// own, a bucket of its own. Its steps are for a caller that ends the sessions and waits between
// them. While it lasts, nobody opens the bucket and no new watch of it is believed.
//
// Several may be under way, and the last one that has marked the bucket counts. The purge of one
// that was overtaken may be carried out at any time, even when the last one has ended. It removes
// what is below its floor, and nothing else. So each adoption chooses its floor with its mark,
// above the floor of the mark that it replaces, and every record of the adopted bucket is above
// them all.
type Adoption struct {
	owner  *Owner
	id     string
	floor  uint64
	bucket *Bucket
}

// ErrAdoptedByAnother means that another adoption of the bucket has begun since, or has ended. It
// is the one that counts.
var ErrAdoptedByAnother = errors.New("another adoption of the bucket has begun since this one")

// Adopt begins an adoption: it marks the bucket, and repairs in place what can be repaired. An
// adoption that was begun before is overtaken. Of, if set, is a backup of the bucket: epochs
// continue above all that were given since the backup, too. Errors: UnfitError for what adopting
// cannot correct, PermissionError, ErrSlowMark, and those of the API.
func (o *Owner) Adopt(ctx context.Context, of *Backup) (*Adoption, error) {
	for range markTries {
		if a, err := o.mark(ctx, of); !errors.Is(err, ErrSlowMark) {
			return a, err
		}
	}
	return nil, fmt.Errorf("mark bucket %q: %w", o.at.bucket, ErrSlowMark)
}

const markTries = 3

// ErrSlowMark means that the server took so long to mark a bucket that another adoption may have
// begun and purged meanwhile, with a floor that this one has not seen.
var ErrSlowMark = errors.New("the server took more than half of the bucket's longest TTL to mark it: try again")

// adoptable reads what the server has, and the changes that make the bucket fit.
func (o *Owner) adoptable(ctx context.Context) (
	info *streamAnswer, cfg map[string]json.RawMessage, changes map[string]any, err error,
) {
	if info, cfg, err = o.info(ctx); err != nil {
		return nil, nil, nil, fmt.Errorf("adopt bucket: %w", err)
	}
	changes, lasting := repairs(o.at, &info.StreamInfo)
	if lasting || ordinary(&info.StreamInfo) { // adopting removes every record
		return nil, nil, nil, unfit(o.at, &info.StreamInfo, o.nc.ConnectedServerVersion())
	}
	return info, cfg, changes, nil
}

// Adoptable changes nothing. It returns the error that Adopt would, and the longest TTL of the
// bucket.
func (o *Owner) Adoptable(ctx context.Context) (longest time.Duration, err error) {
	info, _, _, err := o.adoptable(ctx)
	if err != nil {
		return 0, err
	}
	return longestTTL(&info.StreamInfo), nil
}

// mark marks the bucket. Between its mark and its purge an adoption waits for the longest TTL and
// looks at the mark again. So if its mark was written after we had read the former one, and ours is
// written within half of that time, it finds ours and purges nothing.
func (o *Owner) mark(ctx context.Context, of *Backup) (*Adoption, error) {
	begun := time.Now()
	on := connection(o.nc)
	info, cfg, changes, err := o.adoptable(ctx)
	if err != nil {
		return nil, err
	}
	meta := metadata(changes, &info.StreamInfo)
	least := uint64(0)
	if of != nil {
		least = of.floor()
	}
	a := &Adoption{owner: o, id: beingAdopted + newID(), floor: max(least, floorAfter(info, begun))}
	meta[metaID], meta[metaFloor] = a.id, strconv.FormatUint(a.floor, 10)
	changes["metadata"] = meta
	if err := o.update(ctx, cfg, changes); err != nil {
		return nil, fmt.Errorf("mark bucket %q: %w", o.at.bucket, err)
	}
	if time.Since(begun) > longestTTL(&info.StreamInfo)/2 {
		return nil, ErrSlowMark
	}
	if info, err = a.present(ctx); err != nil {
		return nil, err
	}
	a.bucket = bucketOf(o.nc, o.at, info, on)
	return a, nil
}

// Bucket is the bucket as it is marked, to end its sessions. Its writers and watches end when
// another adoption begins.
func (a *Adoption) Bucket() *Bucket { return a.bucket }

// present is the bucket's stream, if it still has the mark. Errors: ErrAdoptedByAnother.
func (a *Adoption) present(ctx context.Context) (*streamAnswer, error) {
	info, err := infoOf(ctx, a.owner.nc, a.owner.at)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the mark of bucket %q: %w", a.owner.at.bucket, err)
	case info.Config.Metadata[metaID] != a.id:
		return nil, ErrAdoptedByAnother
	}
	return info, nil
}

// Purge removes everything, if the adoption was not overtaken. The next record gets the revision
// floor.
func (a *Adoption) Purge(ctx context.Context) (floor uint64, err error) {
	if _, err := a.present(ctx); err != nil {
		return 0, err
	}
	return a.floor, a.owner.purge(ctx, a.floor)
}

// repairs are the changes that make a stream fit, and lasting says that it stays unfit. Faults that
// an adoption corrects by itself do not count.
func repairs(at place, s *jetstream.StreamInfo) (changes map[string]any, lasting bool) {
	changes = map[string]any{}
	for _, r := range rules {
		switch {
		case r.fit(at.bucket, s) || r.adopt:
		case r.repair == nil:
			lasting = true
		default:
			key, value := r.repair(s)
			changes[key] = value
		}
	}
	return changes, lasting
}

// metadata is that of a stream after its repairs.
func metadata(repairs map[string]any, s *jetstream.StreamInfo) map[string]string {
	if meta, repaired := repairs["metadata"].(map[string]string); repaired {
		return meta
	}
	return described(s, nil)
}

// aDay is the least time for which the origin may have given revisions that are not in the copy.
const aDay = 24 * time.Hour

// floorAfter is a revision above every one that the origin can have given until the purge, if it
// writes less than a million records in a second: its last word was the last record here. The floor
// is also above the clocks of this process and of the server, and above every former floor.
func floorAfter(info *streamAnswer, now time.Time) uint64 {
	if info.TimeStamp.After(now) {
		now = info.TimeStamp
	}
	silent := aDay
	if last := info.State.LastTime; !last.IsZero() {
		silent = max(silent, now.Sub(last))
	}
	wait := longestTTL(&info.StreamInfo)
	former, _ := strconv.ParseUint(info.Config.Metadata[metaFloor], 10, 64) // 0 if there is none
	return max(uint64(now.Add(wait).UnixMicro()), info.State.LastSeq+1+uint64((silent+wait).Microseconds()), former+1)
}

// Finish gives the bucket its new identity, if the adoption was not overtaken.
func (a *Adoption) Finish(ctx context.Context) (Identity, error) {
	if _, err := a.present(ctx); err != nil {
		return Identity{}, err
	}
	info, cfg, err := a.owner.info(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("finish the adoption: %w", err)
	}
	changes := homeOf(&info.StreamInfo)
	maps.Copy(changes, map[string]string{metaID: newID(), metaFormer: ""})
	if err := a.owner.update(ctx, cfg, map[string]any{"metadata": described(&info.StreamInfo, changes)}); err != nil {
		return Identity{}, fmt.Errorf("give bucket %q its identity: %w", a.owner.at.bucket, err)
	}
	after, err := infoOf(ctx, a.owner.nc, a.owner.at)
	if err != nil {
		return Identity{}, fmt.Errorf("read the identity of bucket %q: %w", a.owner.at.bucket, err)
	}
	if after.Config.Metadata[metaID] != changes[metaID] {
		return Identity{}, ErrAdoptedByAnother
	}
	return after.identity(), nil
}
