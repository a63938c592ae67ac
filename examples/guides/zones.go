package guides

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// work is what a process does while it leads a role.
type work func(context.Context, *election.Term) error

// twoLevels leads "local" once in each site, by a bucket of that site, and "global" once in all of
// them, by a bucket that all can reach. The leader of "global" leads "local" too.
func twoLevels(ctx context.Context, site, all roles.Config, local, global work) error {
	here, err := roles.New(site, roles.Role{Name: "local", Lead: local})
	if err != nil {
		return err
	}
	everywhere, err := roles.New(all, roles.Role{Name: "global", Lead: global, While: roles.While(here, "local")})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return here.Run(ctx) })
	group.Go(func() error { return everywhere.Run(ctx) })
	return group.Wait()
}
