package inventory

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Beginnings of the names of streams.
const (
	TaskStreamPrefix   = "TASKS_" // the tasks of a namespace
	ObjectStreamPrefix = "OBJ_"   // an object store
)

// RawKind makes a kind of which only the name is known: its input and its output are bytes.
func RawKind(name string, options ...assign.KindOption) (assign.Kind[[]byte, []byte], error) {
	return assign.MakeKind[[]byte, []byte](name, options...)
}

// Placed is the configuration with the JetStream domain that answers, if none is given: a person
// who types the command has seen to which server it goes.
func Placed(ctx context.Context, nc *nats.Conn, cfg assign.ClientConfig) assign.ClientConfig {
	if cfg.Domain+cfg.APIPrefix == "" {
		cfg.Domain, _ = natskv.Reach{}.AnsweringDomain(ctx, nc) // without an answer the creation fails, and says why
	}
	return cfg
}

// CreateTasks creates the stream of a namespace, or opens the existing one: a client does so with
// its first question.
func CreateTasks(ctx context.Context, nc *nats.Conn, cfg assign.ClientConfig) error {
	c, err := assign.NewClient(nc, Placed(ctx, nc, cfg))
	if err != nil {
		return cli.UsageError(err)
	}
	defer c.Close()
	if _, err := assign.Get(ctx, c, "rolectl"); err != nil && !errors.Is(err, assign.ErrTaskNotFound) {
		return err
	}
	return nil
}
