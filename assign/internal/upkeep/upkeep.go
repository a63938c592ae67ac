package upkeep

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Config is what upkeep needs of a scheduler's term.
type Config struct {
	Namespace string
	Conn      *nats.Conn
	Stream    *natskv.Stream // of the namespace
	Objects   stream.Options // of its object store, which is not created
	Meta      func() event.Meta
	Emit      func(event.Event)
}

// Run counts dead tasks, and removes large outputs that no task needs, until ctx ends.
func Run(ctx context.Context, cfg Config) {
	cfg.Objects.AutoCreate = false
	var wg sync.WaitGroup
	wg.Go(func() { (&deadTasks{Config: cfg}).run(ctx) })
	wg.Go(func() { (&removal{Config: cfg, orphans: orphans{}}).run(ctx) })
	wg.Wait()
}
