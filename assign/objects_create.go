package assign

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/stream"
)

// Objects is the object store of a namespace as it is.
type Objects struct {
	Name string
	// Retention is how long a large output can be read after its task has ended, 0 for ever.
	Retention time.Duration
	Replicas  int
	Storage   jetstream.StorageType
}

// CreateObjects creates the object store TASKS_<namespace>, which keeps outputs above 64 KiB, with
// the Replicas, Storage and LargeRetention of cfg. An existing store stays as it is: the result
// says how it is. A worker whose StreamAutoCreate is set creates the store when the worker first
// needs it. It may be called again, also after an error.
//
// Errors: *ConfigError, nats.ErrPermissionViolation, one that says what to set if the store allows
// direct gets, the server's, the connection's, ctx's.
func CreateObjects(ctx context.Context, nc *nats.Conn, cfg ClientConfig) (Objects, error) {
	if err := cfg.validate(); err != nil {
		return Objects{}, err
	}
	options := cfg.stream()
	options.AutoCreate = true
	o, err := stream.OpenObjects(ctx, nc, options)
	if err != nil {
		return Objects{}, err
	}
	return Objects(o.Objects), nil
}
