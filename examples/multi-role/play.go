package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// play runs the whole of it once: a tree of files, a cluster, a job with faults, a report. The error says what went wrong,
// or that the result is wrong.
func play(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	files, unreadable, err := walk(o.dir)
	if err != nil {
		return fmt.Errorf("-dir: %w; %w", err, errUsage)
	}
	c := &cluster{options: o, history: newHistory()}
	c.screen = newScreen(stdout, c.history.now)
	if o.json {
		c.screen = newScreen(stderr, c.history.now)
	}
	for _, err := range unreadable {
		c.screen.say(yellow, "left out: %v", err)
	}

	if c.backbone, err = connect(ctx, o.nats); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.backbone.close()) }()
	conn, err := c.backbone.client("multi-role submitter")
	if err != nil {
		return err
	}
	defer conn.Close()
	client, err := assign.NewClient(conn, assign.ClientConfig{Namespace: o.bucket, StreamAutoCreate: true, Replicas: o.replicas})
	if err != nil {
		return err
	}
	defer client.Close()
	c.job = newJob(client, o, files)
	c.job.note = func(format string, args ...any) { c.screen.say(plain, format, args...) }
	c.recurring = recurring{client, "inventory-" + c.job.run, o.dir}
	return c.perform(ctx, stdout)
}

// perform starts the instances, does the job, and ends what it has started on every way out.
func (c *cluster) perform(ctx context.Context, stdout io.Writer) (err error) {
	defer func() { err = errors.Join(err, c.stopAll()) }()
	if err := c.start(); err != nil {
		return err
	}
	closePage, err := c.servePage()
	if err != nil {
		return err
	}
	defer closePage()
	unwatch := c.watch()
	defer unwatch()
	if err := c.work(ctx); err != nil {
		return err
	}

	r := c.report()
	if !c.options.once && ctx.Err() == nil {
		r.sweep(c)
		if err := r.publish(c, stdout); err != nil {
			return err
		}
		c.screen.say(plain, "the roles are kept until interrupted")
		<-ctx.Done()
	}
	unwatch()
	err = c.stopAll() // what happens now is part of the history, too
	r.sweep(c)
	if c.options.once || r.Tasks.Unfinished > 0 {
		err = errors.Join(err, r.publish(c, stdout))
	}
	return errors.Join(err, r.verdict())
}

// work waits for leaders, then does the job while faults are injected.
func (c *cluster) work(ctx context.Context) error {
	c.screen.say(plain, "%s and a worker in a process of its own start; %s in %s",
		number(len(c.instances), "instance"), number(len(c.job.files), "file"), c.options.dir)
	if err := c.spread(ctx); err != nil {
		return err
	}
	c.screen.say(plain, "every role has a leader")
	if err := c.recurring.begin(ctx); ctx.Err() != nil {
		_ = c.endRecurring(ctx) // it may have begun, or not
		return nil
	} else if err != nil {
		return err
	}

	faulty, end := context.WithCancel(ctx)
	defer end()
	injected := make(chan error, 1)
	go func() { injected <- c.injectFaults(faulty) }() // joined below
	c.job.do(ctx)
	if c.job.progress().done() < len(c.job.files) {
		end() // what would be waited for will not come
	}
	if err := <-injected; err != nil && faulty.Err() == nil {
		c.fail(fmt.Errorf("inject faults: %w", err))
	}
	c.screen.moment(c.table())
	if err := c.endRecurring(ctx); err != nil {
		c.fail(err)
	}
	return nil
}

// endRecurring ends the inventory, and counts its ticks when the last one has been fired.
func (c *cluster) endRecurring(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // also when interrupted
	defer cancel()
	if err := c.recurring.end(ctx); err != nil {
		return err
	}
	var err error
	c.ticks, err = c.recurring.sum(ctx)
	return err
}

// watch redraws the table, and notices who else takes part, until the function that it returns is called.
func (c *cluster) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		tick := time.NewTicker(tablePace)
		defer tick.Stop()
		for {
			c.elsewhere()
			c.screen.draw(c.table())
			select {
			case <-tick.C:
			case <-ctx.Done():
				c.screen.leave()
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
