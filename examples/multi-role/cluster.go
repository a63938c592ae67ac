package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

var (
	// errGaveUp says that one of them has ended by itself; an outage it would have waited out.
	errGaveUp = errors.New("an instance, or the worker, has given up")
	// errNoLeader says that there is no beginning: NATS cannot be reached, or its streams have no leader.
	errNoLeader = errors.New("there are roles that nobody leads")
	// errNoWorker says that the worker's process runs, and is no member.
	errNoWorker = errors.New("the worker does not take part")
)

// cluster is this process's part in the cluster: its instances, the job that it has for all of them, and what happened.
type cluster struct {
	options   options
	backbone  *backbone
	screen    *screen
	history   *history
	instances []*instance
	worker    *process
	job       *job
	recurring recurring
	ticks     ticks // of it, in the end
	adopted   atomic.Int64

	stopping  sync.WaitGroup // instances that are being stopped
	ending    sync.Once      // of all of them
	mu        sync.Mutex
	failovers []failover
	killed    *killedWorker // nil: none was
	errs      []error       // what did not go as it should, tasks and terms aside
	foreign   bool          // members of other processes were seen
}

// start makes the instances, which contend from now on, and the worker.
func (c *cluster) start() (err error) {
	for i := range c.options.instances {
		in, err := newInstance(c, i)
		if err != nil {
			return err
		}
		c.instances = append(c.instances, in)
	}
	c.worker, err = startProcess(c.options, c.backbone.url, func(err error) { c.screen.say(red, "%v", err) })
	return err
}

// living are the instances that were neither cut off nor stopped.
func (c *cluster) living() []*instance {
	return slices.DeleteFunc(slices.Clone(c.instances), func(in *instance) bool { return !in.fate.is(alive) })
}

// spread waits until the worker takes part, every role has a leader and, if the instances are among themselves, each is where
// it prefers to be. It waits for the latter no longer than patience, and for the others a minute.
func (c *cluster) spread(ctx context.Context) error {
	patience := time.After(5*time.Second + 3*c.options.ttl)
	limit := time.After(time.Minute + 3*c.options.ttl)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	impatient := false
	for {
		led, preferred := c.placed()
		var missing error
		if !led {
			missing = errNoLeader
		} else if !c.working() {
			missing = errNoWorker
		}
		switch {
		case missing == nil && (preferred || impatient || c.elsewhere()):
			return nil
		case len(c.living()) < len(c.instances), !c.worker.fate.is(alive):
			return errGaveUp // stopping it tells why
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

// working reports whether the worker takes part.
func (c *cluster) working() bool {
	return slices.ContainsFunc(c.members(), func(m election.MemberInfo) bool { return m.Instance == c.worker.id })
}

// placed reports whether every role is led, and whether each is led by who prefers it.
func (c *cluster) placed() (led, preferred bool) {
	status := c.instances[0].manager.Status()
	led, preferred = true, true
	for r, role := range status.Roles {
		led = led && role.LeaderID != ""
		preferred = preferred && role.LeaderID == c.instances[r%len(c.instances)].id
	}
	return led, preferred
}

// members are all that the first living instance sees.
func (c *cluster) members() []election.MemberInfo {
	if living := c.living(); len(living) > 0 {
		return living[0].manager.Session().Members()
	}
	return nil
}

// elsewhere reports whether members of other processes take part, or did.
func (c *cluster) elsewhere() bool {
	for _, m := range c.members() {
		if !c.ours(m.Instance) {
			c.mu.Lock()
			c.foreign = true
			c.mu.Unlock()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.foreign
}

func (c *cluster) ours(id string) bool {
	return id == c.worker.id || slices.ContainsFunc(c.instances, func(in *instance) bool { return in.id == id })
}

// stop ends one instance gracefully.
func (c *cluster) stop(in *instance) {
	if err := in.stop(); err != nil {
		c.fail(fmt.Errorf("instance %s: %w", in.id, err))
	}
}

// stopAll ends all of them, at the same time, and returns when all have ended: with what did not go as it should. It does so
// once; the next time it returns nil.
func (c *cluster) stopAll() (err error) {
	c.ending.Do(func() { err = c.stopEach() })
	return err
}

func (c *cluster) stopEach() error {
	c.stopping.Wait()
	for _, in := range c.instances {
		if !in.fate.is(stopped) {
			c.stopping.Go(func() { c.stop(in) })
		}
	}
	if w := c.worker; w != nil {
		c.stopping.Go(func() {
			if err := w.end(10*time.Second + 2*c.options.ttl); err != nil { // drained, or its lease has run out
				c.fail(err)
			}
		})
	}
	c.stopping.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// fail keeps an error until the end: the run goes on as well as it can.
func (c *cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

func (c *cluster) note(f failover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failovers = append(c.failovers, f)
}

// names are the roles of terms, in the order in which roles are shown.
func names(terms []term) string {
	var all []string
	for _, role := range roleNames {
		if slices.ContainsFunc(terms, func(t term) bool { return t.role == role }) {
			all = append(all, role)
		}
	}
	return strings.Join(all, ", ")
}
