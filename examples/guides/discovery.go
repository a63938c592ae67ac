package guides

import (
	"context"

	"github.com/rolemanager/rolemanager/discovery"
	"github.com/rolemanager/rolemanager/election"
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

// announced is a role whose leader is the one instance of the service billing in Consul. The agent
// is that of this host, such as http://127.0.0.1:8500.
func announced(m *roles.Manager, agent string, work func(context.Context, *election.Term) error) roles.Role {
	leader := discovery.ConsulLeader{Session: m.Session(), Service: "billing", Port: 8080, Agent: agent}
	return roles.Role{Name: "billing", Lead: leader.Lead(work)}
}
