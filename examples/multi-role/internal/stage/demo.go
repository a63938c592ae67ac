package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// demo is one run of it all: a tree of files, a cluster, a job with faults, a report.
type demo struct {
	options   options
	screen    *screen
	history   *history
	cluster   *cluster
	job       *job
	submitter Submitter
	client    *assign.Client // asks about tasks
	ticks     ticks
	adopted   atomic.Int64 // tasks that another scheduler found running

	mu        sync.Mutex
	failovers []failover
	killed    *killedWorker // nil while none was
}

// runDemo performs one run. The error describes the failure, or the fault of the result.
func runDemo(ctx context.Context, o options, app App, stdout, stderr io.Writer) (err error) {
	files, unreadable, err := walk(o.dir)
	if err != nil {
		return fmt.Errorf("-dir: %w; %w", err, errUsage)
	}
	d := &demo{options: o, history: newHistory(), job: newJob(o, files)}
	d.screen = newScreen(stdout, d.history.now)
	if o.json {
		d.screen = newScreen(stderr, d.history.now)
	}
	for _, err := range unreadable {
		d.screen.say(yellow, "left out: %v", err)
	}

	server, err := startNATS(ctx, o.nats)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	conn, err := server.connect("multi-role submitter")
	if err != nil {
		return err
	}
	defer conn.Close()
	d.submitter, err = app.Submitter(Job{
		Conn: conn, Namespace: o.bucket, Replicas: o.replicas, Run: d.job.run, Rate: d.job.throttle.of,
		Log: func(format string, args ...any) { d.screen.say(plain, format, args...) },
	})
	if err != nil {
		return err
	}
	defer d.submitter.Close()
	d.client, err = assign.NewClient(conn, assign.ClientConfig{Namespace: o.bucket})
	if err != nil {
		return err
	}
	defer d.client.Close()
	d.cluster = &cluster{app: app, options: o, nats: server, history: d.history, sink: d, job: d.job, screen: d.screen}
	return d.perform(ctx, stdout)
}

// perform starts the cluster, does the job, and ends what it has started on every way out.
func (d *demo) perform(ctx context.Context, stdout io.Writer) (err error) {
	defer func() { err = errors.Join(err, d.cluster.stopAll()) }()
	if err := d.cluster.start(); err != nil {
		return err
	}
	closePage, err := d.servePage()
	if err != nil {
		return err
	}
	defer closePage()
	unwatch := d.watch()
	defer unwatch()
	if err := d.work(ctx); err != nil {
		return err
	}

	r := d.report()
	if !d.options.once && ctx.Err() == nil {
		r.sweep(d)
		if err := r.publish(d, stdout); err != nil {
			return err
		}
		d.screen.say(plain, "the roles are kept until interrupted")
		<-ctx.Done()
	}
	unwatch()
	err = d.cluster.stopAll() // what happens now is part of the history, too
	r.sweep(d)
	if d.options.once || r.Tasks.Unfinished > 0 {
		err = errors.Join(err, r.publish(d, stdout))
	}
	return errors.Join(err, r.verdict())
}

// work waits for leaders, then does the job while faults are injected.
func (d *demo) work(ctx context.Context) error {
	d.screen.say(plain, "%s and a worker in a process of its own start; %s in %s",
		number(len(d.cluster.instances), "instance"), number(len(d.job.files), "file"), d.options.dir)
	if err := d.cluster.awaitSpread(ctx); err != nil {
		return err
	}
	d.screen.say(plain, "every role has a leader")
	if err := d.submitter.BeginInventory(ctx, d.options.dir); ctx.Err() != nil {
		_ = d.endInventory(ctx) // it may have begun, or not
		return nil
	} else if err != nil {
		return err
	}

	faulty, end := context.WithCancel(ctx)
	defer end()
	injected := make(chan error, 1)
	go func() { injected <- d.injectFaults(faulty) }() // joined below
	d.job.do(ctx, d.submitter)
	if d.job.progress().done() < len(d.job.files) {
		end() // no progress comes any more that a fault could wait for
	}
	if err := <-injected; err != nil && faulty.Err() == nil {
		d.cluster.fail(fmt.Errorf("inject faults: %w", err))
	}
	d.screen.snapshot(d.table())
	if err := d.endInventory(ctx); err != nil {
		d.cluster.fail(err)
	}
	return nil
}

// endInventory ends the recurring task, and counts its ticks when the last one has been fired.
func (d *demo) endInventory(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // also when interrupted
	defer cancel()
	if err := d.submitter.EndInventory(ctx); err != nil {
		return err
	}
	states, err := d.submitter.Inventories(ctx)
	d.ticks = countTicks(states)
	return err
}

// watch redraws the table, and notices members of other processes, until stop is called.
func (d *demo) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		tick := time.NewTicker(tableInterval)
		defer tick.Stop()
		for {
			seen := d.cluster.status()
			d.cluster.noticeForeign(seen)
			if d.screen.live {
				d.screen.draw(d.tableOf(seen))
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				d.screen.clear()
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
