package upkeep

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Config is what upkeep needs of a scheduler's term.
type Config struct {
	Namespace string
	Conn      *nats.Conn
	Stream    *natskv.Stream // of the namespace
	Meta      func() event.Meta
	Emit      func(event.Event)
}

// Run counts dead tasks until ctx ends.
func Run(ctx context.Context, cfg Config) {
	(&deadTasks{Config: cfg}).run(ctx)
}
