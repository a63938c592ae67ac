package guides

import (
	"context"
	"log"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/roles"
	"golang.org/x/sync/errgroup"
)

// ledBy is a role whose work is a function. All goroutines of the term end before Lead returns.
func ledBy(produce, consume func(context.Context) error) roles.Role {
	return roles.Role{
		Name: "pipeline",
		Lead: func(ctx context.Context, _ *election.Term) error {
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return produce(ctx) })
			g.Go(func() error { return consume(ctx) })
			return g.Wait()
		},
	}
}

// service is something that is started and stopped.
type service interface {
	Start(ctx context.Context, fence fencing.Token) error
	Stop()
}

// servedBy is a role whose work is a service with a life of its own.
func servedBy(s service) roles.Role {
	return roles.Role{
		Name: "service",
		OnPromote: func(ctx context.Context, fence fencing.Token) {
			if err := s.Start(ctx, fence); err != nil {
				log.Printf("start: %v", err)
			}
		},
		OnDemote: s.Stop, // must return only when the service has stopped
	}
}
