package stage

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/roles"
)

// slots is how many tasks an instance, or the worker, runs at a time.
const slots = 4

// instance is one instance of the program, as if it ran in a process of its own: it has a network
// path, an identity and an HTTP endpoint. It shares nothing with the others in this process but the
// clock.
type instance struct {
	id      string
	state   atomicExitState
	link    *natsrun.Link
	url     string       // of its HTTP endpoint
	running atomic.Int32 // handlers of tasks that were submitted
	cancel  context.CancelFunc
	done    chan struct{} // closed when the program has returned
	err     error         // what it returned, to be read after done
}

// newInstance starts instance i, counted from 0.
func (c *cluster) newInstance(i int) (*instance, error) {
	in := &instance{id: fmt.Sprintf("%s-%d", c.options.id, i+1), link: c.nats.link(), done: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		in.link.Close()
		return nil, fmt.Errorf("start instance %s: %w", in.id, err)
	}
	in.url = "http://" + listener.Addr().String()
	config := Config{
		ID: in.id, URL: c.nats.url, NATS: in.link.Options(), Bucket: c.options.bucket, Replicas: c.options.replicas,
		TTL: c.options.ttl, Slots: slots, Listener: listener,
		Sinks:      []event.Sink{c.history, c.sink, roles.SlogSink(nil)},
		Middleware: []assign.Middleware{c.job.countAttempts(&in.running)},
		Wrap:       func(work Lead) Lead { return c.history.record(in.id, work) },
	}
	var ctx context.Context
	ctx, in.cancel = context.WithCancel(context.Background())
	go func() { // joined by stop
		defer close(in.done)
		in.err = c.app.Instance(ctx, config)
		in.state.set(gaveUp)
		_ = listener.Close() // the program may have ended before it served
	}()
	return in, nil
}

// vanish cuts the network path: from now on every byte in both directions is dropped. Nothing else
// is done. The instance is not told, and continues until its own deadline ends its terms.
func (in *instance) vanish() {
	in.state.set(vanished)
	in.link.Cut()
}

// stop ends the program gracefully: its work drains, then its roles are handed over. It returns
// when that is done.
func (in *instance) stop() error {
	in.state.set(stopped)
	in.cancel()
	<-in.done
	in.link.Close()
	if in.state.is(vanished) {
		return nil // it could say good-bye to nobody
	}
	return in.err
}
