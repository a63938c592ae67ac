package guides

import (
	"github.com/rolemanager/rolemanager/discovery"
	"github.com/rolemanager/rolemanager/roles"
)

// discovered is a manager whose servers are looked up: source is a URL such as
// consul://127.0.0.1:8500/nats, and zone is where this process is.
func discovered(source, zone string, all ...roles.Role) (*roles.Manager, error) {
	servers, err := discovery.Parse(source)
	if err != nil {
		return nil, err
	}
	return roles.New(roles.Config{Servers: servers, Zone: zone, Bucket: "roles", BucketAutoCreate: true}, all...)
}
