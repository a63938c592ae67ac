//go:build !linux

package natsrun

import "github.com/nats-io/nats-server/v2/server"

// heldPort holds nothing where a bound socket keeps a server from listening on its port: Restart
// waits for the port instead.
type heldPort struct{}

func holdPort() (p *heldPort, port int, err error) { return nil, server.RANDOM_PORT, nil }

func (p *heldPort) release() error { return nil }
