package assign_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// hanging is a server to which nobody can connect again for a while: a dial neither comes about nor
// fails, as while a name is looked up in vain. The connection holds its lock for as long.
type hanging struct {
	*natsrun.Server
	link  *natsrun.Link
	hangs atomic.Bool
	gate  chan struct{}
}

func newHanging(t *testing.T) *hanging {
	s := natstest.Server(t)
	return &hanging{Server: s, link: s.Link(), gate: make(chan struct{})}
}

// goesOn ends it.
func (h *hanging) goesOn() {
	h.hangs.Store(false)
	close(h.gate)
}

func (h *hanging) Link() *natsrun.Link { return h.link }

func (h *hanging) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return h.Server.Connect(append(opts, nats.SetCustomDialer(h))...)
}

func (h *hanging) Dial(network, address string) (net.Conn, error) {
	if h.hangs.Load() {
		<-h.gate
	}
	return h.link.Dial(network, address)
}

// hang breaks the connection.
func (h *hanging) hang() {
	h.hangs.Store(true)
	h.link.Reset()
}

// TestHandlersEndWithTheLeaseThoughTheConnectionHangs: their contexts end when others may run their
// tasks, whatever the connection does, and even if somebody waits for its lock.
func TestHandlersEndWithTheLeaseThoughTheConnectionHangs(t *testing.T) {
	t.Parallel()
	h := newHanging(t)
	a := newNode(t, h.Server, "a", nil)
	leader(t, a)
	began, ended := make(chan struct{}, 1), make(chan error, 1)
	defer h.goesOn()
	newNode(t, h, "w", func(w *assign.Assigner) {
		err := assign.Handle(w, slow, func(ctx context.Context, _ *assign.Task[string]) (string, error) {
			select {
			case began <- struct{}{}:
			default: // it is run again, when the connection is back
				return "", nil
			}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "", ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	}, workerOnly)
	if _, err := assign.Submit(t.Context(), New(t, h.Server), slow, "x"); err != nil {
		t.Fatal(err)
	}
	receive(t, "the handler's begin", began)
	h.hang()
	if cause := receive(t, "the end of the handler's context", ended); !errors.Is(cause, assign.ErrSessionLost) {
		t.Errorf("it has ended with %v", cause)
	}
}

// TestSubmitHeedsItsContextThoughTheConnectionHangs: nothing that a submission needs of the
// connection waits for its lock.
func TestSubmitHeedsItsContextThoughTheConnectionHangs(t *testing.T) {
	t.Parallel()
	h := newHanging(t)
	leader(t, newNode(t, h.Server, "a", nil))
	nc, err := h.Connect(append(h.link.Options(), noReports...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	defer h.goesOn()
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := assign.Submit(t.Context(), c, slow, "x"); err != nil {
		t.Fatal(err)
	}
	h.hang()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		_, err := assign.Submit(ctx, c, slow, "y")
		asked <- err
	}()
	if err := receive(t, "the end of a submission", asked); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// receive waits for something, with patience.
func receive[T any](t *testing.T, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(30 * time.Second):
		t.Fatalf("not within 30 s: %s", what)
	}
	return got
}
