package guides

import (
	"context"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// leadAt takes part in a role at any site. url is a server of that site; the bucket is at the hub.
func leadAt(ctx context.Context, url string, work func(context.Context, *election.Term) error) error {
	m, err := roles.New(
		roles.Config{URL: url, Bucket: "roles", Domain: "hub"},
		roles.Role{Name: "scheduler", Lead: work},
	)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}
