package stage

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// livePage is the page about the cluster. It begins to observe when somebody looks for the first
// time: the bucket is there then.
type livePage struct {
	nats   *natsServer
	bucket string
	tasks  *assign.Client

	mu       sync.Mutex
	conn     *nats.Conn
	observer *election.Observer
	handler  *dashboard.Handler
	closed   bool
}

func (p *livePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, err := p.opened(r.Context())
	if err != nil {
		http.Error(w, "the page cannot be made yet: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	h.ServeHTTP(w, r)
}

// opened is the page, which it makes if there is none.
func (p *livePage) opened(ctx context.Context) (_ *dashboard.Handler, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, errors.New("the run is over")
	case p.handler != nil:
		return p.handler, nil
	}
	if p.conn == nil {
		if p.conn, err = p.nats.connect("multi-role page"); err != nil {
			return nil, err
		}
	}
	if p.observer == nil {
		if p.observer, err = election.Observe(ctx, p.conn, p.bucket, election.WithWorkers()); err != nil {
			p.observer = nil
			return nil, err
		}
	}
	p.handler, err = dashboard.New(dashboard.Options{
		Observer: p.observer, Tasks: []*assign.Client{p.tasks}, ShowPayloads: true, // they are paths of files
	})
	return p.handler, err
}

// close ends the page and its streams. It is called before the server waits for requests.
func (p *livePage) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.handler != nil {
		p.handler.Close()
	}
	if p.observer != nil {
		p.observer.Close()
	}
	if p.conn != nil {
		p.conn.Close()
	}
}
