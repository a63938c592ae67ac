package election

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Observer watches a bucket without taking part: it holds no lease and needs read-only permissions.
// It resumes automatically after any outage. All methods are safe for concurrent use.
type Observer struct {
	nc      *nats.Conn
	bucket  *natskv.Bucket
	clock   clock.Clock
	watcher *watcher
	events  *fanout
	workers bool // it shows worker-only members too

	mu   sync.Mutex
	view *protocol.View
	news protocol.News
	// doubted is since when what is shown may be old: the watch has ended, or the connection. 0
	// while the bucket is followed.
	doubted record.Instant
	// removed are the roles whose record was removed, oldest first: they are forgotten after L_max.
	removed []*protocol.RoleView

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ready  chan struct{}
	done   chan struct{}
	err    error // set before done is closed
}

// ObserveOption changes what an Observer watches.
type ObserveOption func(*observeOptions)

type observeOptions struct {
	workers        bool
	sinks          []event.Sink
	domain, prefix string
}

// WithWorkers makes the observer show worker-only members too.
func WithWorkers() ObserveOption { return func(o *observeOptions) { o.workers = true } }

// WithSinks brings every event to the sinks, in order, from one goroutine that the observer owns.
func WithSinks(sinks ...event.Sink) ObserveOption {
	return func(o *observeOptions) { o.sinks = append(o.sinks, sinks...) }
}

// WithDomain gives the JetStream domain that keeps the bucket, as SessionConfig.Domain does.
func WithDomain(domain string) ObserveOption {
	return func(o *observeOptions) { o.domain = domain }
}

// WithAPIPrefix gives the prefix of the JetStream API, as SessionConfig.APIPrefix does.
func WithAPIPrefix(prefix string) ObserveOption {
	return func(o *observeOptions) { o.prefix = prefix }
}

// Observe begins to watch and returns when the present state of the bucket is known. ctx bounds
// only the opening; end the observer with Close. Errors: *ConfigError for an option that is nil,
// ErrBucketNotFound, ErrBucketUnfit, ErrPermission (naming the subject), ErrJetStreamOff, ctx's.
func Observe(ctx context.Context, nc *nats.Conn, bucket string, opts ...ObserveOption) (*Observer, error) {
	var options observeOptions
	for i, opt := range opts {
		if opt == nil {
			return nil, &ConfigError{fmt.Sprintf("option %d", i), "nil: leave it out"}
		}
		opt(&options)
	}
	reach, err := natskv.NewReach(options.domain, options.prefix)
	if err != nil {
		return nil, &ConfigError{"Domain", err.Error()}
	}
	b, err := openRoles(ctx, reach, nc, bucket)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", public(reach.Located(ctx, nc, err)))
	}
	o := &Observer{
		nc: nc, bucket: b, clock: clock.System(), view: protocol.NewView(b.MaxTTL()), events: newFanout(),
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.watcher = newWatcher(o.ctx, &o.wg, nc, b, o.clock, []string{record.AllFilter})
	o.watcher.wide.Store(1) // no other watch shows the beats of idle members
	o.workers = options.workers
	failed := make(chan error, 1) // the first fault that no new watch will mend
	o.events.sink(options.sinks)
	var trouble atomic.Pointer[error] // of the last watch
	o.watcher.note = func(err error, _ int) {
		trouble.Store(&err)
		o.doubt()
	}
	o.watcher.broken = func(err error) { failed <- err }
	o.wg.Go(o.watcher.run)
	go o.run(failed)
	select {
	case <-o.ready:
		return o, nil
	case <-o.done:
		return nil, fmt.Errorf("observe: %w", o.err)
	case <-ctx.Done():
		o.Close()
		if last := trouble.Load(); last != nil {
			return nil, fmt.Errorf("observe: %w: %w", ctx.Err(), *last)
		}
		return nil, fmt.Errorf("observe: %w", ctx.Err())
	}
}

func (o *Observer) run(failed <-chan error) {
	defer func() {
		o.cancel()
		o.wg.Wait()
		o.doubt()
		o.events.close(sinkPatience)
		close(o.done)
	}()
	changes := o.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING)
	defer o.nc.RemoveStatusListener(changes)
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		again.Reset(o.askAgain())
		select {
		case b := <-o.watcher.out:
			if o.err = o.take(b); o.err != nil {
				return
			}
		case status, open := <-changes:
			switch {
			case !open:
				o.err = ErrConnClosed
				return
			case status == nats.CONNECTED:
				o.watcher.rebuild()
			default:
				o.doubt()
			}
		case <-again.C:
		case o.err = <-failed:
			return
		case <-o.ctx.Done():
			return
		}
	}
}

func (o *Observer) take(b batch) error {
	o.mu.Lock()
	now := record.Instant(o.clock.Now().Observer)
	for i, ev := range b.events {
		switch ev := ev.(type) {
		case protocol.Delivered: // nobody else's time depends on this view, so a record counts from when it was stored
			if !o.workers && ev.Peer.Class == record.Worker {
				continue
			}
			o.view.Deliver(now.Add(-b.age(i)), ev.Entry, &o.news)
			if e := ev.Entry; e.Kind == record.KindRole && (e.Form == record.FormMarker || e.Form == record.FormRemoved) {
				o.removed = append(o.removed, o.view.Role(ev.Entry.Name))
			}
		case protocol.WatchReset:
			o.view.BeginWatch(view.Watch(ev), record.Peer{})
			o.doubtFrom(now)
		case protocol.SnapshotDone:
			o.view.EndSnapshot(now, nil, &o.news)
			o.doubted = 0
		}
	}
	o.forget(now)
	meta := event.Meta{Time: time.Now(), Bucket: o.bucket.Name()}
	for _, n := range o.news.Notices {
		if e := noticeEvent(meta, n); e != nil {
			o.events.emit(e)
		}
	}
	o.news.Reset()
	o.watcher.seen.Store(o.view.Last())
	regressed := o.view.Regressed()
	o.mu.Unlock()
	if regressed {
		return ErrStoreRegressed
	}
	if b.snapshot {
		select {
		case <-o.ready:
		default:
			close(o.ready)
		}
	}
	return nil
}

// doubt notes that what is shown may be old from now on.
func (o *Observer) doubt() {
	o.read(func(_ *protocol.View, now record.Instant) { o.doubtFrom(now) })
}

func (o *Observer) doubtFrom(now record.Instant) {
	if o.doubted == 0 {
		o.doubted = now
	}
}

// forget drops the roles whose record was removed long ago, and the sessions that ended long ago.
func (o *Observer) forget(now record.Instant) {
	o.view.Sweep(now)
	for len(o.removed) > 0 && o.removed[0].Seen.Add(o.view.MaxTTL+time.Second) <= now {
		r := o.removed[0]
		o.removed[0] = nil
		o.removed = o.removed[1:]
		if due, ok := o.view.ForgetAt(r); ok && due <= now {
			o.view.ForgetRole(r)
		}
	}
}

// askAgain makes a new watch if the view wants one now, and tells how long it is until it does.
func (o *Observer) askAgain() (wait time.Duration) {
	o.read(func(v *protocol.View, now record.Instant) {
		if v.AskAgain(now) {
			o.watcher.rebuild()
		}
		wait = v.AskAt().Sub(now)
	})
	return wait
}

func (o *Observer) read(f func(v *protocol.View, now record.Instant)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(o.view, record.Instant(o.clock.Now().Observer))
}

// Bucket is the name of the bucket.
func (o *Observer) Bucket() string { return o.bucket.Name() }

// Connected reports whether the connection is up. While it is not, what the observer shows is old.
func (o *Observer) Connected() bool { return o.nc.IsConnected() }

// StaleFor is for how long what the observer shows may have been out of date: 0 while it follows
// the bucket, else the time since its connection or its watch was lost, until all of the bucket has
// come again. A server that falls silent is noticed after some 35 seconds, or when the connection
// gives up its pings.
func (o *Observer) StaleFor() (age time.Duration) {
	o.read(func(_ *protocol.View, now record.Instant) {
		if o.doubted != 0 {
			age = max(now.Sub(o.doubted), 1)
		}
	})
	return age
}

// Roles are the roles of the bucket, by name.
func (o *Observer) Roles() (all []RoleInfo) {
	o.read(func(v *protocol.View, now record.Instant) { all = roleInfos(v, now) })
	for i := range all {
		o.explain(&all[i])
	}
	return all
}

// explain says why a role is not led that has no record in an adopted bucket. An observer does not
// see when the processes have started.
func (o *Observer) explain(info *RoleInfo) {
	if info.Revision == 0 && info.State == RoleVacant && o.bucket.Adopted() {
		info.Reason = fmt.Sprintf("the bucket was adopted, and the role has no record: "+
			"a process takes it %v after that process has started", o.bucket.MaxTTL())
	}
}

// Spread is how the roles are led that are spread, by group.
func (o *Observer) Spread() (all []SpreadInfo) {
	o.read(func(v *protocol.View, now record.Instant) { all = spreadInfos(v, now) })
	return all
}

// Role returns one role of the bucket, and whether the bucket knows it.
func (o *Observer) Role(name string) (info RoleInfo, ok bool) {
	o.read(func(v *protocol.View, now record.Instant) {
		if r := v.Role(name); r != nil {
			info, ok = roleInfo(v, r, now), true
		}
	})
	o.explain(&info)
	return info, ok
}

// Members are the members whose session is not known to be dead, by name.
func (o *Observer) Members() (all []MemberInfo) {
	o.read(func(v *protocol.View, now record.Instant) { all = memberInfos(v, now) })
	return all
}

// Events returns the events from now on, vacancies included. The channel is closed when ctx or the
// observer ends.
func (o *Observer) Events(ctx context.Context) <-chan event.Event { return o.events.subscribe(ctx) }

// Done is closed when the observer has ended: by Close, or by a fault that Err tells.
func (o *Observer) Done() <-chan struct{} { return o.done }

// Err is why the observer ended, nil before and after Close.
func (o *Observer) Err() error {
	select {
	case <-o.done:
		return o.err
	default:
		return nil
	}
}

// Close ends the observer and waits for it.
func (o *Observer) Close() {
	o.cancel()
	<-o.done
}
