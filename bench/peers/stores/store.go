package stores

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrMissing says that a program is not installed.
var ErrMissing = errors.New("not installed")

// Traffic is what a store has received and sent since it started, and the writes since it was first
// asked.
type Traffic struct {
	In, Out           uint64 // messages
	BytesIn, BytesOut uint64
	Writes            uint64 // attempts to change a key, refused ones too
	Roles             uint64 // those of a role's own key, by which a candidate takes and keeps it
}

// Minus is the traffic since an earlier moment.
func (t Traffic) Minus(u Traffic) Traffic {
	return Traffic{
		t.In - u.In, t.Out - u.Out, t.BytesIn - u.BytesIn, t.BytesOut - u.BytesOut, t.Writes - u.Writes,
		t.Roles - u.Roles,
	}
}

// Store is a server that runs.
type Store interface {
	// Addr is where it listens, "127.0.0.1:port".
	Addr() string
	// Traffic and CPU are of the server alone. ErrUnsupported where nothing is counted.
	Traffic(ctx context.Context) (Traffic, error)
	CPU(ctx context.Context) (time.Duration, error)
	Close()
}

// Start starts a server of a kind.
func Start(kind string, synced bool) (Store, error) {
	switch kind {
	case "nats", "etcd", "kube":
		return startEmbedded(kind, synced)
	case "redis":
		return startRedis(synced)
	case "postgres":
		return startPostgres(synced)
	case "consul":
		return startConsul()
	}
	return nil, fmt.Errorf("stores: no kind %q", kind)
}
