package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// errLost says that the connection was lost for longer than --timeout.
var errLost = errors.New("the connection was lost")

// connect opens the connection for creating and removing. If it is lost for longer than --timeout,
// the benchmark ends: its members would continue to try. release ends this watch.
func (b *benchmark) connect() (nc *nats.Conn, release func(), err error) {
	if err := b.a.Direct("bench"); err != nil {
		return nil, nil, err
	}
	target, err := b.a.Settings.Resolve()
	if err != nil {
		return nil, nil, cli.UsageError(err)
	}
	w := absence{within: target.Timeout, end: func() { b.stop(errLost) }}
	nc, err = b.a.Connect(
		nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond), nats.ReconnectBufSize(-1),
		// a silent server counts as lost
		nats.PingInterval(max(target.Timeout/4, 250*time.Millisecond)), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { w.begin() }),
		nats.ReconnectHandler(func(*nats.Conn) { w.over() }),
	)
	return nc, w.over, err
}

// absence calls end when a connection is lost for too long.
type absence struct {
	within time.Duration
	end    func()

	mu    sync.Mutex
	timer *time.Timer // while it is lost
}

func (w *absence) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.within, w.end)
	}
}

func (w *absence) over() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// lost is the error about a lost server. It names the streams that remain there.
func (b *benchmark) lost() error {
	return cli.ExitWith(cli.ExitConnection,
		fmt.Errorf("%w; when the server is back, remove the streams of the benchmark: nats stream rm -f KV_%s; nats stream "+
			"rm -f TASKS_%[2]s", errLost, b.name))
}

// reason returns why the benchmark ended early. A failure after the loss of the connection, or
// after an interrupt, is a consequence of that.
func (b *benchmark) reason(nc *nats.Conn, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(b.ctx), errLost), nc.FlushTimeout(b.a.Target.Timeout) != nil:
		return b.lost()
	case b.ctx.Err() != nil:
		return cli.ErrInterrupted
	}
	return err
}
