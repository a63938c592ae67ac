package assign

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/internal/naming"
)

// Submitter is what tasks can be submitted to: a [*Client] or an [*Assigner].
type Submitter interface {
	// submitter returns the client to use, and waits for the connection if there is none yet.
	submitter(ctx context.Context) (*client.Client, error)
}

// Client submits tasks and waits for them. It neither runs tasks nor hands them out. It is safe for
// concurrent use. It opens the stream when it is first used.
type Client struct {
	client    *client.Client
	namespace string
}

// NewClient makes a client. It does no I/O, and the connection may come later
// (nats.RetryOnFailedConnect). The connection stays the caller's. Errors: a *ConfigError when nc is
// nil; every fault of cfg, joined.
func NewClient(nc *nats.Conn, cfg ClientConfig) (*Client, error) {
	if nc == nil {
		return nil, &ConfigError{"Conn", "nil: give the connection that nats.Connect has returned"}
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Client{client.New(nc, cfg.stream(), cfg.sealer(), submitAround(cfg.SubmitMiddleware)), cfg.Namespace}, nil
}

// Namespace is the client's namespace.
func (c *Client) Namespace() string { return c.namespace }

// Close ends the client. A call that waits returns ErrClosed; tasks continue. The connection stays
// open.
func (c *Client) Close() {
	if c != nil && c.client != nil {
		c.client.Close()
	}
}

func (c *Client) submitter(context.Context) (*client.Client, error) {
	if c == nil || c.client == nil {
		return nil, ErrNoClient
	}
	return c.client, nil
}

// clientOf is the client of a submitter.
func clientOf(ctx context.Context, in Submitter) (*client.Client, error) {
	if in == nil {
		return nil, ErrNoClient
	}
	return in.submitter(ctx)
}

// clientOfTask is clientOf for a question about one task. Errors: also ErrInvalidID.
func clientOfTask(ctx context.Context, in Submitter, id string) (*client.Client, error) {
	if !naming.Valid(id) {
		return nil, fmt.Errorf("%w: %q", ErrInvalidID, id)
	}
	return clientOf(ctx, in)
}
