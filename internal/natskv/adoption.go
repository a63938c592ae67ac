package natskv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// Adoption makes a stream that continues the revisions of another bucket, or earlier ones of its
// own, a bucket of its own. Its steps are for a caller that ends the sessions and waits between
// them. While it lasts, nobody opens the bucket and no new watch of it is believed.
type Adoption struct {
	owner  *Owner
	id     string
	bucket *Bucket
}

// ErrAdoptedByAnother means that another adoption of the bucket has begun since, or has ended. It
// is the one that counts.
var ErrAdoptedByAnother = errors.New("another adoption of the bucket has begun since this one")

// Adopt begins an adoption: it marks the bucket, and repairs in place what can be repaired. An
// adoption that was begun before is overtaken. Errors: UnfitError for what adopting cannot correct,
// PermissionError, and those of the API.
func (o *Owner) Adopt(ctx context.Context) (*Adoption, error) {
	on := connection(o.nc)
	info, cfg, err := o.info(ctx)
	if err != nil {
		return nil, fmt.Errorf("adopt bucket: %w", err)
	}
	changes, lasting := map[string]any{}, false
	for _, r := range rules {
		switch {
		case r.fit(o.at.bucket, &info.StreamInfo) || r.adopt:
		case r.repair == nil:
			lasting = true
		default:
			key, value := r.repair(&info.StreamInfo)
			changes[key] = value
		}
	}
	if lasting {
		return nil, unfit(o.at, &info.StreamInfo, o.nc.ConnectedServerVersion())
	}
	meta, repaired := changes["metadata"].(map[string]string)
	if !repaired {
		meta = described(&info.StreamInfo, nil)
	}
	a := &Adoption{owner: o, id: beingAdopted + newID()}
	meta[metaID] = a.id
	changes["metadata"] = meta
	if err := o.update(ctx, cfg, changes); err != nil {
		return nil, fmt.Errorf("mark bucket %q: %w", o.at.bucket, err)
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
// floor, which is above every revision that the origin can have given: its last word was the last
// record here, and it writes less than a million records in a second.
func (a *Adoption) Purge(ctx context.Context) (floor uint64, err error) {
	info, err := a.present(ctx)
	if err != nil {
		return 0, err
	}
	floor = floorAfter(info, time.Now())
	return floor, a.owner.purge(ctx, floor)
}

// aDay is the least time for which the origin may have given revisions that are not in the copy.
const aDay = 24 * time.Hour

// floorAfter is a revision above the clocks of this process and of the server, and above what was
// written elsewhere since the last record.
func floorAfter(info *streamAnswer, now time.Time) uint64 {
	if info.TimeStamp.After(now) {
		now = info.TimeStamp
	}
	silent := aDay
	if last := info.State.LastTime; !last.IsZero() {
		silent = max(silent, now.Sub(last))
	}
	return max(uint64(now.UnixMicro()), info.State.LastSeq+1+uint64(silent.Microseconds()))
}

// Finish gives the bucket its new identity, if the adoption was not overtaken.
func (a *Adoption) Finish(ctx context.Context, floor uint64) (Identity, error) {
	if _, err := a.present(ctx); err != nil {
		return Identity{}, err
	}
	info, cfg, err := a.owner.info(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("finish the adoption: %w", err)
	}
	changes := homeOf(&info.StreamInfo)
	maps.Copy(changes, map[string]string{metaID: newID(), metaFloor: strconv.FormatUint(floor, 10), metaFormer: ""})
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
