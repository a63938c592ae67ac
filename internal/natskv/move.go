package natskv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Place is where the servers are that keep a bucket: in a cluster, with tags. Either may be empty.
type Place struct {
	Cluster string
	Tags    []string
}

func (p Place) isZero() bool { return p.Cluster == "" && len(p.Tags) == 0 }

// placement is the placement in a stream's configuration, nil for none.
func (p Place) placement() *jetstream.Placement {
	if p.isZero() {
		return nil
	}
	return &jetstream.Placement{Cluster: p.Cluster, Tags: slices.Clone(p.Tags)}
}

// Move moves a bucket to another place, while it is used: its sessions keep their terms. It returns
// when the bucket is there. If it fails, another Move finishes. It waits for another move that is
// under way. Errors: CopiedBucketError and those of Open, and ctx's with how far the move is.
func (o *Owner) Move(ctx context.Context, to Place) (Identity, error) {
	for {
		err := o.setOut(ctx, to)
		switch {
		case err == nil:
			if err := o.arrive(ctx, to); err != nil {
				return Identity{}, err
			}
			return o.Here(ctx)
		case !hasCode(err, codeMoving) && !hasCode(err, codeChanging):
			return Identity{}, err
		}
		select {
		case <-ctx.Done():
			return Identity{}, errors.Join(err, ctx.Err())
		case <-time.After(moveLook):
		}
	}
}

// setOut begins a move. A server refuses it while it moves the stream, also for a moment after the
// stream has arrived.
func (o *Owner) setOut(ctx context.Context, to Place) error {
	info, cfg, err := o.info(ctx)
	if err != nil {
		return fmt.Errorf("move bucket: %w", err)
	}
	if _, err := opened(o.nc, o.at, info, connection(o.nc)); err != nil {
		return fmt.Errorf("move bucket: %w", err)
	}
	home := homeOf(&info.StreamInfo)
	if from := home[metaCluster]; to.Cluster != "" && to.Cluster != from { // both are its home meanwhile
		home[metaCluster], home[metaFormer] = to.Cluster, from
	}
	changes := map[string]any{"placement": to.placement(), "metadata": described(&info.StreamInfo, home)}
	if err := o.update(ctx, cfg, changes); err != nil {
		return fmt.Errorf("move bucket %q: %w", o.at.bucket, err)
	}
	return nil
}

// moveLook is how often a move is looked at.
const moveLook = 200 * time.Millisecond

// arrive waits until the bucket is in its cluster, and on its replicas alone.
func (o *Owner) arrive(ctx context.Context, to Place) error {
	seen := "no answer"
	for {
		info, err := infoOf(ctx, o.nc, o.at)
		if err == nil && info.Cluster != nil {
			c := info.Cluster
			current := 0
			for _, r := range c.Replicas {
				if r.Current && !info.missing(r) {
					current++
				}
			}
			there := to.Cluster == "" || c.Name == to.Cluster
			whole := current == len(c.Replicas) && current == info.Config.Replicas-1
			if there && whole && c.Leader != "" {
				return nil
			}
			seen = fmt.Sprintf("cluster %q, leader %q, %d of %d other replicas current",
				c.Name, c.Leader, current, len(c.Replicas))
		} else if Permanent(err) {
			return fmt.Errorf("move bucket %q: %w", o.at.bucket, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("move bucket %q: %w; seen last: %s; the move continues: run the command again to finish it",
				o.at.bucket, ctx.Err(), seen)
		case <-time.After(moveLook):
		}
	}
}

// Here writes into the metadata that the bucket is where it is now: after a move, or when its
// servers were given another domain or cluster name. A copy that was created as another stream is
// refused with a CopiedBucketError.
func (o *Owner) Here(ctx context.Context) (Identity, error) {
	info, cfg, err := o.info(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("write where the bucket is: %w", err)
	}
	if err := unfit(o.at, &info.StreamInfo, o.nc.ConnectedServerVersion()); err != nil {
		return Identity{}, err
	}
	if adopting(info.Config.Metadata[metaID]) {
		return Identity{}, &AdoptingError{o.at.bucket}
	}
	if w := written(&info.StreamInfo); info.Config.Metadata[metaCreated] != "" && !w.Created.Equal(info.Created) {
		return Identity{}, &CopiedBucketError{Bucket: o.at.bucket, Written: w, Found: info.identity()}
	}
	home := homeOf(&info.StreamInfo)
	home[metaFormer] = ""
	if err := o.update(ctx, cfg, map[string]any{"metadata": described(&info.StreamInfo, home)}); err != nil {
		return Identity{}, fmt.Errorf("write where the bucket is: %w", err)
	}
	return info.identity(), nil
}
