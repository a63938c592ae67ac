package upkeep

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// bundlePage is how many bundles are held at a time.
const bundlePage = 16

// bundled gives each the open members of bundles by their ids. If a bundle cannot be read, its
// members are not known to have ended, and each gets their block of ids.
//
// A member ends in one step with its outcome. So a process that reads the outcomes after the
// bundles misses no task: a member that is not given has had an outcome before.
func bundled(ctx context.Context, cfg Config, each func(id string)) error {
	ended, err := endedMembers(ctx, cfg)
	if err != nil {
		return err
	}
	s := newSweep(cfg, record.BundleKey)
	s.data, s.page = true, bundlePage
	return s.run(ctx, func(e *natskv.Entry) error {
		if e.Marker || len(e.Value) == 0 {
			return nil
		}
		name := e.Key[len(record.BundleKey):]
		block, _, ok := bundles.Split(name)
		members, err := record.DecodeBundle(name, e.Header, e.Value)
		switch {
		case !ok: // not a bundle's name
			each(name)
			return nil
		case err != nil:
			each(block)
			return nil
		}
		over := ended[e.Revision]
		for place := range members {
			if !over.Has(place) {
				each(bundles.ID(block, int(members[place].Index)))
			}
		}
		return nil
	})
}

// endedMembers reads which members of bundles have ended, by the revisions of the bundles.
func endedMembers(ctx context.Context, cfg Config) (map[uint64]bundles.Set, error) {
	ended := map[uint64]bundles.Set{}
	s := newSweep(cfg, record.EndedKey)
	s.data = true
	err := s.run(ctx, func(e *natskv.Entry) error {
		if r, err := record.DecodeEnded(e.Value); err == nil { // else it was removed, or is of a later version
			ended[r.Of] = r.Places
		}
		return nil
	})
	return ended, err
}
