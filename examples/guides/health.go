package guides

import (
	"context"
	"database/sql"
	"net/http"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// healthy is a role that this process gives up when its database does not answer three times in a
// row.
func healthy(db *sql.DB, lead func(context.Context, *election.Term) error) roles.Role {
	return roles.Role{
		Name: "billing",
		Lead: lead,
		Health: election.HealthCheckFunc(func(ctx context.Context) bool {
			return db.PingContext(ctx) == nil
		}),
	}
}

// probes serves the endpoints that Kubernetes and load balancers ask.
func probes(m *roles.Manager) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/health/", http.StripPrefix("/health", m.Handler()))
	return mux
}
