package guides

import (
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// embedded runs a NATS server in this process, and connects to it without a network.
func embedded(dir string) (nc *nats.Conn, shutdown func(), err error) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		return nil, nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, nil, errors.New("the server is not ready")
	}
	nc, err = nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		s.Shutdown()
		return nil, nil, err
	}
	return nc, func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() }, nil
}
