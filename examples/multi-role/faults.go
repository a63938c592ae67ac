package main

import (
	"context"
	"errors"
	"slices"
	"time"
)

// failover is one role that changed hands because of what was done to its leader.
type failover struct {
	Role string `json:"role"`
	// Kind is "crash": Gap counts from the moment at which the leader vanished to the next promotion; or "graceful": from
	// the moment at which its work had returned.
	Kind  string  `json:"kind"`
	From  string  `json:"from"`
	To    string  `json:"to"`
	GapMS float64 `json:"gap_ms"`
}

// errNoSuccessor is a role that nobody has taken over.
var errNoSuccessor = errors.New("a role has no successor after all this time")

const (
	crash    = "crash"
	graceful = "graceful"
)

// When faults come: how many sixths of the tasks are done then.
const (
	killWhen   = 1
	vanishWhen = 4
	stopWhen   = 5
)

// injectFaults kills the worker, makes a leader vanish, and stops another. It harms no leader where no instance of this process
// would be left, or where none of them leads anything.
func (c *cluster) injectFaults(ctx context.Context) error {
	if err := c.job.reached(ctx, killWhen); err != nil {
		return err
	}
	if err := c.killWorker(ctx); err != nil {
		return err
	}
	if err := c.job.reached(ctx, vanishWhen); err != nil {
		return err
	}
	c.screen.moment(c.table())
	if victim, terms := c.victim(ctx); victim != nil {
		c.screen.say(yellow, "%s vanishes: its link drops every byte; it leads %s", victim.id, names(terms))
		from := c.history.now()
		victim.vanish()
		if err := c.await(ctx, crash, terms, func(term) (time.Duration, error) { return from, nil }); err != nil {
			return err
		}
	}
	if err := c.job.reached(ctx, stopWhen); err != nil {
		return err
	}
	c.screen.moment(c.table())
	if victim, terms := c.victim(ctx); victim != nil {
		c.screen.say(yellow, "%s is stopped gracefully; it leads %s", victim.id, names(terms))
		c.stopping.Go(func() { c.stop(victim) })
		return c.await(ctx, graceful, terms, func(t term) (time.Duration, error) { return c.history.end(ctx, t) })
	}
	return nil
}

// victim is a living instance that leads something, the scheduler first, and the terms that it is in. It is nil if it would
// be the last of this process, or if all that is led is led elsewhere for longer than a lease lasts.
func (c *cluster) victim(ctx context.Context) (chosen *instance, terms []term) {
	living := c.living()
	if len(living) < 2 {
		c.screen.say(yellow, "no leader is harmed: it would be the last instance of this process")
		return nil, nil
	}
	var ids []string
	for _, in := range living {
		ids = append(ids, in.id)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*c.options.ttl)
	defer cancel()
	if c.history.anyone(ctx, ids) != nil {
		c.screen.say(yellow, "no instance of this process leads anything: none is harmed")
		return nil, nil
	}
	for _, in := range living {
		led := c.history.running(in.id)
		schedules := slices.ContainsFunc(led, func(t term) bool { return t.role == schedulerRole })
		if schedules || len(led) > len(terms) {
			chosen, terms = in, led
		}
		if schedules {
			break
		}
	}
	return chosen, terms
}

// await waits for the successor in each of the terms, and notes how long each role was without a leader.
func (c *cluster) await(ctx context.Context, kind string, terms []term, since func(term) (time.Duration, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second+5*c.options.ttl, errNoSuccessor)
	defer cancel()
	for _, t := range terms {
		from, err := since(t)
		if err != nil {
			return err
		}
		next, err := c.history.successor(ctx, t.role, t.epoch)
		if err != nil {
			return err
		}
		gap := next.at - from
		c.note(failover{t.role, kind, t.instance, next.instance, float64(gap.Microseconds()) / 1000})
		c.screen.say(green, "%s leads %s, %s %s", next.instance, t.role, gap.Round(10*time.Microsecond), after[kind])
	}
	return nil
}

// after is what the gap of a failover is counted from.
var after = map[string]string{
	crash:    "after its leader vanished",
	graceful: "after the work of its last leader had returned",
}
