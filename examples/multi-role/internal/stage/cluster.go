package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

var (
	// errGaveUp is the end of one of them by itself. An outage it would have waited out.
	errGaveUp = errors.New("an instance, or the worker, has given up")
	// errNoLeader means that NATS cannot be reached, or that its streams have no leader.
	errNoLeader = errors.New("there are roles that nobody leads")
	// errNoWorker means that the process of the worker runs, and is not a member.
	errNoWorker = errors.New("the worker does not take part")
)

// cluster is the part of this process in the cluster: instances, and a worker in a process of its
// own.
type cluster struct {
	app       App
	options   options
	nats      *natsServer
	history   *history
	sink      event.Sink
	job       *job
	screen    *screen
	instances []*instance
	worker    *workerProcess

	stopping sync.WaitGroup // instances that are being stopped
	ending   sync.Once      // of all of them
	mu       sync.Mutex
	errs     []error // what did not work, tasks and terms aside
	foreign  bool    // members of other processes were seen
}

// start starts the instances, which contend from now on, and the worker.
func (c *cluster) start() (err error) {
	for i := range c.options.instances {
		in, err := c.newInstance(i)
		if err != nil {
			return err
		}
		c.instances = append(c.instances, in)
	}
	c.worker, err = startWorker(c.options, c.nats.url, func(err error) { c.screen.say(red, "%v", err) })
	return err
}

// living are the instances that were neither cut off nor stopped.
func (c *cluster) living() []*instance {
	return slices.DeleteFunc(slices.Clone(c.instances), func(in *instance) bool { return !in.state.is(alive) })
}

// named is the living instance of that id, nil if there is none.
func (c *cluster) named(id string) *instance {
	for _, in := range c.living() {
		if in.id == id {
			return in
		}
	}
	return nil
}

// status is the cluster as the first living instance sees it.
func (c *cluster) status() status {
	if living := c.living(); len(living) > 0 {
		return readStatus(living[0].url)
	}
	return status{}
}

// awaitSpread waits until the worker takes part, every role has a leader and, if this process is
// alone, the roles are spread. It waits a while for the last, and a minute longer for the others.
func (c *cluster) awaitSpread(ctx context.Context) error {
	patience := time.After(5*time.Second + 3*c.options.ttl)
	limit := time.After(time.Minute + 3*c.options.ttl)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	impatient := false
	for {
		seen := readStatus(c.instances[0].url)
		led, even := c.placed(seen)
		var missing error
		if !led {
			missing = errNoLeader
		} else if !seen.has(c.worker.id) {
			missing = errNoWorker
		}
		switch {
		case missing == nil && (even || impatient || c.noticeForeign(seen)):
			return nil
		case len(c.living()) < len(c.instances), !c.worker.state.is(alive):
			return errGaveUp // the reason is told when it is stopped
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience:
			impatient = true
			if missing != nil {
				c.screen.say(yellow, "%v; still waiting", missing)
			}
		case <-limit:
			return missing
		}
	}
}

// placed reports whether every role has a leader, and whether no instance leads two more than
// another.
func (c *cluster) placed(seen status) (led, even bool) {
	load := map[string]int{}
	for _, role := range seen.Roles {
		load[role.Leader]++
	}
	least, most := len(seen.Roles), 0
	for _, in := range c.instances {
		least, most = min(least, load[in.id]), max(most, load[in.id])
	}
	led = len(seen.Roles) > 0 && load[""] == 0
	return led, led && most-least <= 1
}

// noticeForeign reports whether members of other processes take part, or did.
func (c *cluster) noticeForeign(seen status) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.foreign = c.foreign || slices.ContainsFunc(seen.members(), func(id string) bool { return !c.owns(id) })
	return c.foreign
}

// owns reports whether an instance is of this process.
func (c *cluster) owns(id string) bool {
	return id == c.worker.id || slices.ContainsFunc(c.instances, func(in *instance) bool { return in.id == id })
}

// stopSoon begins to stop one instance gracefully. stopAll waits for its end.
func (c *cluster) stopSoon(in *instance) {
	c.stopping.Go(func() {
		if err := in.stop(); err != nil {
			c.fail(fmt.Errorf("instance %s: %w", in.id, err))
		}
	})
}

// stopAll ends all of them at the same time, and returns what did not work when all have ended.
// Later calls return nil.
func (c *cluster) stopAll() (err error) {
	c.ending.Do(func() { err = c.stopEach() })
	return err
}

func (c *cluster) stopEach() error {
	c.stopping.Wait()
	for _, in := range c.instances {
		if !in.state.is(stopped) {
			c.stopSoon(in)
		}
	}
	if w := c.worker; w != nil {
		c.stopping.Go(func() {
			// Then its tasks have drained, or its lease has run out.
			if err := w.end(10*time.Second + 2*c.options.ttl); err != nil {
				c.fail(err)
			}
		})
	}
	c.stopping.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// fail keeps an error until the end: the run continues as well as it can.
func (c *cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}
