package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// Client submits tasks, waits for them, looks at them and steers them. It knows no types of inputs
// and outputs. It is safe for concurrent use. The stream is opened with the first use.
type Client struct {
	nc     *nats.Conn
	cfg    stream.Options
	sealer *sealed.Sealer // nil: nothing is sealed
	around Around
	sub    record.Talk // since the stream is open

	// prefix begins the ids that this client makes: they have one audience.
	prefix string
	ids    ids
	// careful is how many of the next submissions with a unique key look first whether it is free.
	careful atomic.Int32

	opening       chan struct{} // size 1: the token of the caller that opens
	line          atomic.Pointer[line]
	closed        chan struct{}
	once          sync.Once
	waiters       waiters
	subscriptions subscriptions
}

// line is the state of an open client.
type line struct {
	stream *natskv.Stream
	writer *natskv.Writer
	intake *intake
	most   atomic.Int64 // max_payload of the server: the connection tells it under a lock that it may hold for long
	// other is set when another stream has the name of this one.
	other atomic.Pointer[error]
	seen  recentReads
	wg    sync.WaitGroup

	shutOuts *shutOuts
}

// Around is what goes around the submissions of a client; nil for nothing.
type Around func(ctx context.Context, s *Submission, data []byte, store StoreFunc) (Handle, error)

// StoreFunc stores a submission.
type StoreFunc func(ctx context.Context, s *Submission, data []byte) (Handle, error)

// New makes a client. It does no I/O.
func New(nc *nats.Conn, cfg stream.Options, s *sealed.Sealer, a Around) *Client {
	c := &Client{
		nc: nc, cfg: cfg, sealer: s, around: a, prefix: nuid.Next(), opening: make(chan struct{}, 1),
		closed: make(chan struct{}),
	}
	c.ids.maker = bundles.NewMaker(c.prefix)
	c.waiters.open = map[string]*waiter{}
	c.subscriptions.open = map[string]*subscription{}
	c.waiters.renewed = make(chan struct{})
	return c
}

// Close ends the client. A call that waits returns taskerr.ErrClosed; tasks continue. The
// connection stays open.
func (c *Client) Close() {
	c.once.Do(func() {
		close(c.closed)
		c.waiters.close()
		c.opening <- struct{}{} // nobody opens it any more
		if l := c.line.Load(); l != nil {
			l.writer.Close()
			l.intake.close()
			l.wg.Wait()
		}
	})
}

// ready opens the stream, subscribes to the outcomes of our own tasks and starts the writer, once.
func (c *Client) ready(ctx context.Context) (*line, error) {
	if l := c.line.Load(); l != nil {
		if other := l.other.Load(); other != nil {
			return nil, *other
		}
		return l, nil
	}
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-c.closed:
		return nil, taskerr.ErrClosed
	case <-ctx.Done():
		return nil, c.offline(ctx.Err())
	}
	if l := c.line.Load(); l != nil {
		return l, nil
	}
	if err := c.connected(ctx); err != nil {
		return nil, err
	}
	opened, err := stream.Open(ctx, c.nc, c.cfg)
	if err != nil {
		return nil, c.offline(err)
	}
	c.sub = record.TalkOf(c.cfg.Namespace, opened.Identity().ID)
	l := &line{stream: opened, shutOuts: newShutOuts()}
	l.seen.bundles = bundles.NewSeen[*standing](keepSeen, mostSeen)
	leave, err := c.listen(c.prefix, c.prefix+".>")
	if err != nil {
		return nil, fmt.Errorf("assign: subscribe to outcomes: %w", err)
	}
	if l.writer, err = natskv.NewWriter(c.nc, opened); err != nil {
		leave()
		return nil, fmt.Errorf("assign: %w", err)
	}
	l.most.Store(c.nc.MaxPayload())
	l.intake = newIntake(l.writer, &l.most, &c.ids)
	// A middleware may submit a task again before the first attempt is over. And the outcome of a
	// task that is stored alone takes the room of its submission, so a full stream of these
	// empties.
	l.intake.apart = c.around != nil || opened.Bounded()
	l.wg.Go(func() { c.attend(l, leave) })
	c.line.Store(l)
	return l, nil
}

// same returns taskerr.ErrOtherStream if another stream has the name of the one that was opened,
// and then so does every later call. It is asked where a task is missing and where a scheduler is
// silent: the scheduler of another stream speaks on other subjects.
func (c *Client) same(ctx context.Context, l *line) error {
	ctx, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	err := l.stream.Identify(ctx, c.nc)
	if !errors.Is(err, taskerr.ErrOtherStream) {
		return nil
	}
	err = fmt.Errorf("assign: %w", err)
	l.other.Store(&err)
	return err
}

// openPatience is how long a server may be silent about JetStream. A server that is being shut down
// is silent, and so is one that has no JetStream.
const openPatience = 5 * time.Second

// readyAtLast is ready, again and again while the connection is the only fault. It is for calls
// that write and calls that wait. Other calls return the fault.
func (c *Client) readyAtLast(ctx context.Context) (*line, error) {
	if c.line.Load() != nil {
		return c.ready(ctx)
	}
	pace, began := newPace(), time.Now()
	for {
		l, err := c.ready(ctx)
		lost := errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrConnectionReconnecting) ||
			errors.Is(err, nats.ErrTimeout) ||
			errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, natskv.ErrJetStreamOff) && time.Since(began) < openPatience
		if !lost || natskv.Permanent(err) || ctx.Err() != nil {
			return l, err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return nil, c.offline(errors.Join(ended, err))
		}
	}
}

// connected waits until there was a connection. Before that, the limits of the server are not
// known.
func (c *Client) connected(ctx context.Context) error {
	changes := c.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer c.nc.RemoveStatusListener(changes)
	for {
		switch {
		case c.nc.IsClosed():
			return c.offline(nats.ErrConnectionClosed)
		case c.nc.MaxPayload() > 0:
			return nil
		}
		again := time.NewTimer(connectedAgain)
		select {
		case <-changes:
		case <-again.C:
		case <-c.closed:
			again.Stop()
			return taskerr.ErrClosed
		case <-ctx.Done():
			again.Stop()
			return c.offline(ctx.Err())
		}
		again.Stop()
	}
}

// connectedAgain is how soon the client looks again for a connection, in case the notice of it is
// lost.
const connectedAgain = time.Second

// attend makes every waiter look again now and then, and after each reconnect, because
// announcements during the interruption are lost.
func (c *Client) attend(l *line, leave func()) {
	changes := c.nc.StatusChanged(nats.CONNECTED)
	defer c.nc.RemoveStatusListener(changes)
	defer leave()
	tick := time.NewTicker(readAfter / 2)
	defer tick.Stop()
	for {
		select {
		case <-c.closed:
			return
		case now := <-tick.C:
			c.waiters.tick(now)
		case _, ok := <-changes:
			if !ok {
				changes = nil // the connection is closed: a waiter learns it when it reads
			}
			c.waiters.renew()
			l.most.Store(c.nc.MaxPayload())
		}
	}
}

// offline is err. If silence is explained by a missing connection, the error says so too.
func (c *Client) offline(err error) error {
	silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, taskerr.ErrNoScheduler) ||
		errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrConnectionClosed)
	switch status := natsconn.Soon(c.nc.Status, nats.RECONNECTING); {
	case !silent || errors.Is(err, taskerr.ErrClosed) || status == nats.CONNECTED:
		return err
	case status == nats.CLOSED:
		return fmt.Errorf("%w: its connection is: %w", taskerr.ErrClosed, nats.ErrConnectionClosed)
	default:
		return taskerr.Doing(err, "not connected to a server (%v)", strings.ToLower(status.String()))
	}
}

// opened is ready, unless the client was closed.
func (c *Client) opened(ctx context.Context) (*line, error) { return c.unlessClosed(c.ready(ctx)) }

// openedAtLast is opened, again and again while the connection is the only fault.
func (c *Client) openedAtLast(ctx context.Context) (*line, error) {
	return c.unlessClosed(c.readyAtLast(ctx))
}

func (c *Client) unlessClosed(l *line, err error) (*line, error) {
	if err != nil {
		return nil, err
	}
	select {
	case <-c.closed:
		return nil, taskerr.ErrClosed
	default:
		return l, nil
	}
}

// listen receives the announcements to the given audiences until leave is called.
func (c *Client) listen(audiences ...string) (leave func(), err error) {
	l, done := &c.subscriptions, c.sub.Done("")
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, to := range audiences {
		if err := l.join(to, func() (*nats.Subscription, error) {
			return c.nc.Subscribe(done+to, func(m *nats.Msg) { c.heard(m.Subject[len(done):], m.Data) })
		}); err != nil {
			l.part(audiences[:i])
			return nil, err
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.part(audiences)
	}, nil
}

// heard handles the announcements of a scheduler to an audience. An announcement counts only on the
// subjects of its task.
func (c *Client) heard(to string, data []byte) {
	for task, announcement := range record.Entries(data) {
		if to == task || to == record.Audience(task) {
			c.waiters.announce(task, announcement)
		}
	}
}

// newPace is the wait between two attempts at the stream.
func newPace() *backoff.ExponentialBackOff {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	return pace
}

// pause waits before the next attempt. Errors: taskerr.ErrClosed, ctx's.
func (c *Client) pause(ctx context.Context, pace *backoff.ExponentialBackOff) error {
	timer := time.NewTimer(pace.NextBackOff())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closed:
		return taskerr.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
