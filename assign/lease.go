package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/scheduler"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
)

// lease is the part of an election.Host that this package uses, see bridge.LeaseOf.
type lease interface {
	scheduler.Host
	worker.Host
}

// hosting is the present lease, for Lead.
type hosting struct {
	ctx context.Context
	h   lease
}
